package dev.outbox.benchmarks;

import dev.outbox.benchmarks.Scenario.Metric;
import dev.outbox.jdbc.Phase;
import java.util.List;
import java.util.stream.Stream;

/** All scenarios. Add a new one here. */
final class Scenarios {
    private static final int VOLUME = 100_000;
    private static final Backlog PASSED = Backlog.of(VOLUME).afterPassing(300_000);
    private static final Backlog PASSED_KEYED = Backlog.keyed(VOLUME, 1_000).afterPassing(300_000);

    private static final List<Scenario> MESSAGES = List.of(
            enqueueOne("enqueue-1x1", 6_000, 1),
            enqueueOne("enqueue-1x4", 16_000, 4),
            enqueueOne("enqueue-1x8", 24_000, 8),
            enqueueHundred("enqueue-100x1", 2_000, 1),
            enqueueHundred("enqueue-100x4", 3_000, 4),
            enqueueKeyed("enqueue-keyed", 1_000),
            enqueueKeyed("enqueue-hot-key", 1),
            drain("drain-1n", 1),
            drain("drain-2n", 2),
            ordered("ordered-1k-keys", "1,000 keys", Backlog.keyed(VOLUME, 1_000)),
            ordered("ordered-hot-key", "a single key", Backlog.keyed(VOLUME, 1)),
            ordered(
                    "ordered-blocked-key",
                    "10,000 keys beside one whose head is not due, with 100,000 rows behind it",
                    Backlog.keyed(50_000, 10_000).withBlocked(VOLUME)),
            ordered(
                    "ordered-backing-off",
                    "1,000 keys among 100,000 that are all backing off",
                    Backlog.keyed(VOLUME, 1_000).withBackingOff(VOLUME)),
            latency("latency-50", 50, 7, 1),
            latency("latency-1000", 1_000, 5, 4),
            bloatClean(),
            bloatSnapshot(),
            bloatOrdered(),
            hotKey("hot-key-clean", "How fast do the last 100,000 of a large backlog of one key go?", false),
            hotKey("hot-key-snapshot", "The same while an old transaction keeps all dead rows", true)
                    .comparedWith("hot-key-clean"),
            growth("growth-0", 0),
            growth("growth-1m", 1_000_000),
            growth("growth-5m", 5_000_000),
            phases(
                    "phases",
                    "random ids, as old applications write them",
                    Backlog.of(VOLUME).withRandomIds()),
            phases("rising-phases", "rising ids, as enqueue writes them", Backlog.of(VOLUME)),
            badDay("bad-day-keys", Trouble.BAD_KEYS, false, Backlog.keyed(VOLUME, VOLUME / 5)),
            badDay("bad-day-keys-batch", Trouble.BAD_KEYS, true, Backlog.keyed(VOLUME, VOLUME / 5)),
            new Scenario(
                    "bad-day-poison",
                    "How long from the commit to the destination, beside 200 messages that always fail?",
                    Metric.SLOWEST_PERCENT,
                    new Latency(new OursBesidePoison(200), 20, 20, 1),
                    new Latency(new OursBesidePoison(0), 20, 20, 1)),
            new Scenario(
                    "bad-day-route",
                    "How fast are messages delivered while another route accepts nothing?",
                    Metric.PER_SECOND,
                    new BesideDeadRoute(true, Backlog.of(VOLUME)),
                    new BesideDeadRoute(false, Backlog.of(VOLUME))),
            // Three times as many, so that the rate outweighs the end, when single messages wait for their sixteenth
            // attempt.
            badDay("bad-day-half", Trouble.HALF_OF_ALL_CALLS, false, Backlog.of(3 * VOLUME)),
            new Scenario(
                    "handler",
                    "How fast are messages handled, each in a transaction with its effect?",
                    Metric.PER_SECOND,
                    new Drain(new OursHandlers(), Backlog.of(VOLUME / 4)),
                    new Drain(new LimitHandlers(), Backlog.of(VOLUME / 4))),
            slow("slow-4", 4, 10_000),
            slow("slow-32", 32, 50_000),
            new Scenario(
                    "inbox",
                    "How fast are messages received of which every tenth comes again? Threads: 4",
                    Metric.PER_SECOND,
                    new Enqueue(Receiver.OURS, 16_000, 1, 4),
                    new Enqueue(Receiver.LIMIT, 16_000, 1, 4)));

    private static final List<Scenario> ALL = Stream.of(
                    MESSAGES, WaitingKeys.scenarios(), Questions.scenarios(), List.of(adminPurge()))
            .flatMap(List::stream)
            .toList();

    private Scenarios() {}

    static List<Scenario> all() {
        return ALL;
    }

    /**
     * The scenarios whose names begin with one of these; all, if none is given.
     *
     * @throws IllegalArgumentException if no scenario begins with one of them
     */
    static List<Scenario> beginningWith(List<String> beginnings) {
        for (String beginning : beginnings) {
            if (ALL.stream().noneMatch(scenario -> scenario.name().startsWith(beginning))) {
                throw new IllegalArgumentException("no scenario begins with \"" + beginning + "\"; there are "
                        + ALL.stream().map(Scenario::name).toList());
            }
        }
        return ALL.stream()
                .filter(scenario -> beginnings.isEmpty() || beginnings.stream().anyMatch(scenario.name()::startsWith))
                .toList();
    }

    private static Scenario enqueueOne(String name, int transactions, int threads) {
        return new Scenario(
                name,
                "How fast is one message per transaction stored? Threads: " + threads,
                Metric.PER_SECOND,
                new Enqueue(OursWriter.UNKEYED, transactions, 1, threads),
                new Enqueue(LimitWriter.INSERT, transactions, 1, threads),
                new Enqueue(new GruelboxWriter(), transactions, 1, threads),
                new Enqueue(new DbSchedulerWriter(), transactions, 1, threads));
    }

    private static Scenario enqueueHundred(String name, int transactions, int threads) {
        return new Scenario(
                name,
                "How fast are 100 messages per transaction stored? Threads: " + threads,
                Metric.PER_SECOND,
                new Enqueue(OursWriter.UNKEYED, transactions, 100, threads),
                new Enqueue(LimitWriter.UNNEST, transactions, 100, threads),
                new Enqueue(new GruelboxWriter(), transactions, 100, threads),
                new Enqueue(new DbSchedulerWriter(), transactions, 100, threads));
    }

    private static Scenario enqueueKeyed(String name, int keys) {
        return new Scenario(
                name,
                "What does the order of keys cost those who store, one message per transaction, 4 threads?",
                Metric.PER_SECOND,
                new Enqueue(OursWriter.keyed(keys), 16_000, 1, 4),
                new Enqueue(OursWriter.UNKEYED, 16_000, 1, 4));
    }

    private static Scenario drain(String name, int nodes) {
        Backlog backlog = Backlog.of(VOLUME);
        return new Scenario(
                        name,
                        "How fast is a backlog delivered by " + (nodes == 1 ? "one node?" : nodes + " nodes?"),
                        Metric.PER_SECOND,
                        new Drain(OursRelay.KEEP, backlog, nodes, false),
                        new Drain(OursRelay.DELETE, backlog, nodes, false),
                        new Drain(LimitRelay.KEEP, backlog, nodes, false),
                        new Drain(LimitRelay.DELETE, backlog, nodes, false),
                        new Drain(new GruelboxRelay(), backlog, nodes, false),
                        new Drain(new DbSchedulerRelay(), backlog, nodes, false))
                .with(new Scenario.Rule(LimitRelay.DELETE.name(), 5, DbScheduler.NAME));
    }

    /** The limit knows no keys: it delivers the same number of messages without them. */
    private static Scenario ordered(String name, String keys, Backlog backlog) {
        return new Scenario(
                name,
                "How fast are messages of " + keys + " delivered in their order?",
                Metric.PER_SECOND,
                new Drain(OursRelay.ORDERED, backlog),
                new Drain(LimitRelay.DELETE, Backlog.of(backlog.messages())));
    }

    private static Scenario latency(String name, int perSecond, int seconds, int threads) {
        return new Scenario(
                name,
                "How long from the commit to the destination, at " + perSecond + " messages a second?",
                Metric.LATENCY,
                new Latency(new OursWake(), perSecond, seconds, threads),
                new Latency(new OursNotify(), perSecond, seconds, threads),
                new Latency(new GruelboxCourier(), perSecond, seconds, threads));
    }

    private static Scenario bloatClean() {
        return new Scenario(
                "bloat-clean",
                "How fast do the last 100,000 of a large backlog go?",
                Metric.PER_SECOND,
                new Drain(OursRelay.KEEP, PASSED, 1, false),
                new Drain(OursRelay.DELETE, PASSED, 1, false),
                new Drain(OursRelay.ORDERED, PASSED_KEYED, 1, false),
                new Drain(LimitRelay.DELETE, PASSED, 1, false));
    }

    private static Scenario bloatSnapshot() {
        return new Scenario(
                        "bloat-snapshot",
                        "The same while an old transaction keeps all dead rows",
                        Metric.PER_SECOND,
                        new Drain(OursRelay.KEEP, PASSED, 1, true),
                        new Drain(OursRelay.DELETE, PASSED, 1, true),
                        new Drain(LimitRelay.DELETE, PASSED, 1, true))
                .comparedWith("bloat-clean");
    }

    private static Scenario bloatOrdered() {
        return new Scenario(
                        "bloat-ordered",
                        "The same, of 1,000 keys",
                        Metric.PER_SECOND,
                        new Drain(OursRelay.ORDERED, PASSED_KEYED, 1, true),
                        new Drain(LimitRelay.DELETE, PASSED, 1, true))
                .comparedWith("bloat-clean");
    }

    private static Scenario hotKey(String name, String question, boolean snapshot) {
        Backlog backlog = Backlog.keyed(VOLUME, 1).afterPassing(300_000);
        return new Scenario(name, question, Metric.PER_SECOND, new Drain(OursRelay.ORDERED, backlog, 1, snapshot));
    }

    private static Scenario growth(String name, int done) {
        Backlog backlog = Backlog.of(VOLUME).withDone(done);
        return new Scenario(
                        name,
                        "How fast is a backlog delivered from a table with %,d rows Done?".formatted(done),
                        Metric.PER_SECOND,
                        new Drain(OursRelay.KEEP, backlog),
                        new Drain(LimitRelay.KEEP, backlog))
                .comparedWith("growth-0");
    }

    /** The limit settles whole batches, so a library cannot cost the database less. */
    private static Scenario slow(String name, int concurrency, int messages) {
        Backlog backlog = Backlog.of(messages);
        return new Scenario(
                name,
                "What does the database do per message for a slow destination, called by %d threads?"
                        .formatted(concurrency),
                Metric.PER_SECOND,
                new Drain(new OursSlow(concurrency), backlog),
                new Drain(LimitRelay.KEEP, backlog));
    }

    private static Scenario badDay(String name, Trouble trouble, boolean inBatches, Backlog backlog) {
        return new Scenario(
                name,
                "How fast are good messages delivered while " + trouble.description() + "?",
                Metric.PER_SECOND,
                new TroubledDrain(trouble, true, inBatches, backlog),
                new TroubledDrain(trouble, false, inBatches, backlog));
    }

    /** Compared with two canonical tables: a freshly installed one, and a fully migrated one. */
    private static Scenario phases(String name, String ids, Backlog backlog) {
        return new Scenario(
                name,
                "How fast is a backlog delivered from a legacy table on its way to the canonical one? With " + ids,
                Metric.PER_SECOND,
                new Drain(OursRelay.KEEP, backlog),
                new Drain(new PhaseRelay(Phase.CLEAN), backlog),
                new Drain(new PhaseRelay(Phase.LEGACY), backlog),
                new Drain(new PhaseRelay(Phase.ADDITIVE), backlog),
                new Drain(new PhaseRelay(Phase.DUAL), backlog),
                new Drain(new PhaseRelay(Phase.FLIPPED), backlog));
    }

    private static Scenario adminPurge() {
        Backlog backlog = Backlog.of(3 * VOLUME).withDone(1_000_000); // so that some seconds are measured
        return new Scenario(
                "admin-purge",
                "How fast is a backlog delivered while 1,000,000 rows are purged?",
                Metric.PER_SECOND,
                new Drain(new PurgingRelay(), backlog),
                new Drain(OursRelay.KEEP, backlog));
    }
}
