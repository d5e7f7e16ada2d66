package dev.outbox.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.outbox.Message;
import dev.outbox.WorkItem;
import dev.outbox.event.OutboxEvent;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The names in the dashboard and on the page are those that a registry really has. */
class NamesTest {
    private static final Path DASHBOARD = Path.of("../docs/reference/grafana-dashboard.json");
    private static final Path PAGE = Path.of("../docs/reference/metrics.md");

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    @BeforeEach
    void everyMeterIsThere() {
        OutboxMetrics metrics = OutboxMetrics.of(registry, "outbox");
        WorkItem item = new WorkItem("1", 1, 1, Instant.now(), Message.to("a").payload("{}"));
        metrics.on(new OutboxEvent.Done("p", item, Duration.ofMillis(3)));
        TableGauges.bind(registry, "outbox", () -> new TableReading(1, 1, 1, Duration.ofSeconds(1)));
    }

    @Test
    void theDashboardAsksForWhatPrometheusIsToldAndForAllOfIt() throws IOException {
        Set<String> asked = new TreeSet<>();
        expressions(new ObjectMapper().readTree(DASHBOARD.toFile()))
                .forEach(expression -> asked.addAll(matches("outbox_[a-z_]+", expression)));
        Set<String> told = new TreeSet<>();
        registry.scrape()
                .lines()
                .filter(line -> !line.startsWith("#"))
                .forEach(line -> told.add(line.substring(0, line.indexOf('{'))));

        assertThat(asked).isSubsetOf(told);
        assertThat(families(asked)).isEqualTo(families(told));
    }

    @Test
    void theDashboardSelectsAndGroupsByTagsThatThereAre() throws IOException {
        Set<String> labels = new TreeSet<>();
        for (String expression : expressions(new ObjectMapper().readTree(DASHBOARD.toFile()))) {
            matches("[a-z]+(?==~)", expression).forEach(labels::add);
            matches("(?<=by \\()[^)]*", expression).forEach(group -> labels.addAll(List.of(group.split(", "))));
        }
        Set<String> told = new TreeSet<>();
        registry.scrape()
                .lines()
                .filter(line -> !line.startsWith("#"))
                .forEach(line -> told.addAll(matches("[a-z]+(?==\")", line)));

        assertThat(labels).isNotEmpty().isSubsetOf(told);
    }

    @Test
    void thePageNamesEveryMeterAndNoOther() throws IOException {
        Set<String> named = new TreeSet<>(matches("(?<=^\\| `)outbox\\.[a-z.]+", Files.readString(PAGE)));
        Set<String> registered = registry.getMeters().stream()
                .map(meter -> meter.getId().getName())
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(named).isEqualTo(registered);
    }

    /** A histogram and its count, sum and maximum are one. */
    private static Set<String> families(Set<String> names) {
        return names.stream()
                .map(name -> name.replaceFirst("_(bucket|count|sum|max)$", ""))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<String> expressions(JsonNode dashboard) {
        List<String> expressions = dashboard.findValuesAsText("expr");
        assertThat(expressions).isNotEmpty();
        return expressions;
    }

    private static List<String> matches(String pattern, String text) {
        return Pattern.compile(pattern, Pattern.MULTILINE)
                .matcher(text)
                .results()
                .map(match -> match.group())
                .toList();
    }
}
