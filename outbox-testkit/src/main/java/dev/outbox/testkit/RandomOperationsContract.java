package dev.outbox.testkit;

import org.junit.jupiter.api.Test;

/** What no list of cases covers: long random histories, compared with a model step by step. */
interface RandomOperationsContract {
    /** The seed of the default run, so that a build says the same twice. */
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
