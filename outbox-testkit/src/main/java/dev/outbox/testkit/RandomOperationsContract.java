package dev.outbox.testkit;

import org.junit.jupiter.api.Test;

/** Long random histories, compared with a model step by step. They cover what no list of cases does. */
interface RandomOperationsContract {
    /** The seed of the default run, so that a build can be repeated. */
    long DEFAULT_SEED = 20_260_101L;

    int STEPS = 2_000;

    @Test
    default void aRandomHistoryKeepsEveryPromise(SourceScenario store) {
        new RandomOperations(store, seed()).run(STEPS);
    }

    private static long seed() {
        if (Boolean.getBoolean("outbox.full")) {
            return Long.getLong("outbox.test.seed", System.nanoTime());
        }
        return Long.getLong("outbox.test.seed", DEFAULT_SEED);
    }
}
