package dev.outbox.benchmarks;

/** The share of the full volume that a run uses. */
enum Scale {
    FULL(1),

    /** Before the first round, so that no contender is measured while the JVM still compiles it. */
    WARM_UP(4),

    /** Just enough to check that it works. */
    SMOKE(100);

    private final int divisor;

    Scale(int divisor) {
        this.divisor = divisor;
    }

    int of(int full) {
        return full == 0 ? 0 : Math.max(1, full / divisor);
    }
}
