package dev.outbox.benchmarks;

/** A system that was started and has to be stopped. */
@FunctionalInterface
interface Running {
    /** Stops it and returns when nothing of it runs any more. */
    void stop() throws Exception;
}
