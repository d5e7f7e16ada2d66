package dev.outbox.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs a hundredth of every scenario once. A contender that lost, doubled or reordered something throws. */
class SmokeIT {
    @TempDir
    private static Path results;

    private static Results measured;
    private static String printed;

    @BeforeAll
    static void runsEverything() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Settings settings = new Settings(List.of(), 1, true, results);
        measured = new Benchmark(settings, new PrintStream(out, true, StandardCharsets.UTF_8)).run();
        printed = out.toString(StandardCharsets.UTF_8);
    }

    static Stream<Named<Scenario>> scenarios() {
        return Scenarios.all().stream().map(scenario -> Named.of(scenario.name(), scenario));
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void everyContenderOfAScenarioIsMeasured(Scenario scenario) {
        for (Contender contender : scenario.contenders()) {
            double[] values = measured.values(scenario.name(), contender.name(), scenario.metric()::of);
            assertThat(values).as(contender.name()).hasSize(1);
            assertThat(values[0]).as(contender.name()).isNotNegative().isFinite();
            assertThat(printed).contains(contender.settings());
        }
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void everyScenarioHasAChartWithItsContenders(Scenario scenario) throws Exception {
        String chart = Files.readString(results.resolve(scenario.name() + ".svg"));

        assertThat(chart).startsWith("<svg ").contains(scenario.name()).contains(names(scenario));
    }

    @Test
    void theFileOfResultsHasALineForEveryRun() throws Exception {
        List<String> lines = Files.readAllLines(results.resolve("results.csv"));
        String[] beginnings = Scenarios.all().stream()
                .flatMap(scenario -> names(scenario).stream().map(name -> scenario.name() + "," + name + ",1"))
                .toArray(String[]::new);

        assertThat(lines.get(0))
                .isEqualTo(
                        "scenario,contender,round,per_second,p50_ms,p99_ms,max_ms,idle_per_minute,db_cpu_us,wal_bytes");
        assertThat(lines.subList(1, lines.size()))
                .allMatch(line -> line.split(",", -1).length == 10)
                .extracting(line -> line.replaceFirst("^([^,]*,[^,]*,[^,]*),.*", "$1"))
                .containsExactlyInAnyOrder(beginnings);
    }

    private static List<String> names(Scenario scenario) {
        return scenario.contenders().stream().map(Contender::name).toList();
    }
}
