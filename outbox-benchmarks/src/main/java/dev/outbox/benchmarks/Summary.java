package dev.outbox.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The table of one scenario: medians, and how each contender compares with the limits and the peers. */
final class Summary {
    private final Scenario scenario;
    private final Results results;

    Summary(Scenario scenario, Results results) {
        this.scenario = scenario;
        this.results = results;
    }

    /** Lines of equal columns, ready to print. */
    String table() {
        List<List<String>> lines = new ArrayList<>();
        lines.add(header());
        scenario.contenders().forEach(contender -> lines.add(line(contender.name())));
        return TextTable.of(lines);
    }

    /** Why the run is void, or null if it is valid. */
    @Nullable
    String objection() {
        Scenario.Rule rule = scenario.rule();
        if (rule == null) {
            return null;
        }
        Double fast = results.median(scenario.name(), rule.fast(), this::figure);
        Double slow = results.median(scenario.name(), rule.slow(), this::figure);
        if (fast == null || slow == null || fast >= rule.atLeast() * slow) {
            return null;
        }
        return String.format(
                Locale.ROOT,
                "void: %s is only %.1f times %s, not %.0f times",
                rule.fast(),
                fast / slow,
                rule.slow(),
                rule.atLeast());
    }

    private List<String> header() {
        List<String> header = new ArrayList<>(List.of(scenario.name(), "per second", "lowest", "highest"));
        header.addAll(List.of("p50 ms", "p99 ms", "max ms", "idle/min", "db CPU us", "WAL bytes"));
        references().forEach(reference -> header.add("x " + reference));
        if (scenario.base() != null) {
            header.add("x own " + scenario.base());
        }
        return header;
    }

    private List<String> line(String contender) {
        double[] rates = results.values(scenario.name(), contender, Measurement::perSecond);
        List<String> line = new ArrayList<>();
        line.add(contender);
        line.add(median("%,.0f", contender, Measurement::perSecond));
        line.add(rates.length == 0 ? "" : text("%,.0f", rates[0]));
        line.add(rates.length == 0 ? "" : text("%,.0f", rates[rates.length - 1]));
        line.add(median("%.2f", contender, Measurement::p50Millis));
        line.add(median("%.2f", contender, Measurement::p99Millis));
        line.add(median("%.2f", contender, Measurement::maxMillis));
        line.add(median("%,.0f", contender, Measurement::idlePerMinute));
        line.add(median("%.1f", contender, Measurement::databaseCpuMicros));
        line.add(median("%,.0f", contender, Measurement::walBytes));
        Double own = results.median(scenario.name(), contender, this::figure);
        for (String reference : references()) {
            line.add(ratio(own, results.median(scenario.name(), reference, this::figure)));
        }
        if (scenario.base() != null) {
            line.add(ratio(own, results.median(scenario.base(), contender, this::figure)));
        }
        return line;
    }

    /**
     * The contenders that the others are compared with: the limits and the peers, or, where there are none, our other
     * contenders.
     */
    private List<String> references() {
        List<String> names = scenario.contenders().stream().map(Contender::name).toList();
        List<String> others =
                names.stream().filter(name -> !name.startsWith("ours-")).toList();
        return others.isEmpty() && names.size() > 1 ? names : others;
    }

    private @Nullable Double figure(Measurement measurement) {
        return scenario.metric().of(measurement);
    }

    private String median(String format, String contender, Function<Measurement, @Nullable Double> figure) {
        return text(format, results.median(scenario.name(), contender, figure));
    }

    private static String ratio(@Nullable Double value, @Nullable Double reference) {
        return text("%.2f", value == null || reference == null ? null : Double.valueOf(value / reference));
    }

    private static String text(String format, @Nullable Double value) {
        return value == null ? "" : String.format(Locale.ROOT, format, value);
    }
}
