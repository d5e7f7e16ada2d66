package dev.outbox.benchmarks;

import dev.outbox.benchmarks.Scenario.Metric;
import java.util.List;
import java.util.stream.Stream;

/**
 * The cost of keys whose only message is due tomorrow: an idle poller, a message of a new key, and a backlog of other keys.
 * Each is compared with the same on a table without such keys.
 */
final class WaitingKeys {
    private WaitingKeys() {}

    static List<Scenario> scenarios() {
        return Stream.of(beside("0", 0), beside("1k", 1_000), beside("200k", 200_000), beside("1m", 1_000_000))
                .flatMap(List::stream)
                .toList();
    }

    private static List<Scenario> beside(String size, int keys) {
        String place = "beside %,d keys whose message is due tomorrow?".formatted(keys);
        return List.of(
                scenario(
                        size,
                        "idle",
                        "How many transactions does an idle poller need " + place,
                        Metric.IDLE_PER_MINUTE,
                        new Idle(Backlog.of(0).withBackingOff(keys))),
                scenario(
                        size,
                        "latency",
                        "How long does a message of a new key take that wakes no poller, " + place,
                        Metric.SLOWEST_PERCENT,
                        new Latency(new OursNewKeys(Backlog.of(0).withBackingOff(keys)), 2, 100, 1)),
                scenario(
                        size,
                        "drain",
                        "How fast are messages of 1,000 keys delivered in their order " + place,
                        Metric.PER_SECOND,
                        new Drain(
                                OursRelay.ORDERED, Backlog.keyed(100_000, 1_000).withBackingOff(keys))));
    }

    private static Scenario scenario(String size, String what, String question, Metric metric, Contender contender) {
        return new Scenario("waiting-keys-" + size + "-" + what, question, metric, contender)
                .comparedWith("waiting-keys-0-" + what);
    }
}
