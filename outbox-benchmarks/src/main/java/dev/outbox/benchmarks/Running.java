package dev.outbox.benchmarks;

/** Something that was started and has to be stopped. */
@FunctionalInterface
interface Running {
    /** Returns when it has come to rest. */
    void stop() throws Exception;
}
