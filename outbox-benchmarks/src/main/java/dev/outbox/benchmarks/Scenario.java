package dev.outbox.benchmarks;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Contenders that are compared with each other, in one run, round by round.
 *
 * @param question what it measures
 * @param rule what has to be true for a run to be valid, if there is such a rule
 * @param base the scenario of the same family that each contender's own figures are compared with, if any
 */
record Scenario(
        String name,
        String question,
        Metric metric,
        List<Contender> contenders,
        @Nullable Rule rule,
        @Nullable String base) {
    Scenario {
        contenders = List.copyOf(contenders);
    }

    Scenario(String name, String question, Metric metric, Contender... contenders) {
        this(name, question, metric, List.of(contenders), null, null);
    }

    Scenario with(Rule rule) {
        return new Scenario(name, question, metric, contenders, rule, base);
    }

    Scenario comparedWith(String base) {
        return new Scenario(name, question, metric, contenders, rule, base);
    }

    /** The first word of its name. Scenarios of a family are interleaved, so that they can be compared. */
    String family() {
        int end = name.indexOf('-');
        return end < 0 ? name : name.substring(0, end);
    }

    /** The figure that the contenders are compared by. */
    enum Metric {
        PER_SECOND("messages per second"),
        LATENCY("milliseconds from commit to destination, median"),
        SLOWEST_PERCENT("milliseconds from commit to destination, 99th percentile"),
        IDLE_PER_MINUTE("transactions per minute of an idle poller");

        private final String unit;

        Metric(String unit) {
            this.unit = unit;
        }

        String unit() {
            return unit;
        }

        @Nullable
        Double of(Measurement measurement) {
            return switch (this) {
                case PER_SECOND -> measurement.perSecond();
                case LATENCY -> measurement.p50Millis();
                case SLOWEST_PERCENT -> measurement.p99Millis();
                case IDLE_PER_MINUTE -> measurement.idlePerMinute();
            };
        }
    }

    /**
     * A slow baseline makes everything else look fast: the run is void where {@code fast} is not this much faster than
     * {@code slow}.
     */
    record Rule(String fast, double atLeast, String slow) {}
}
