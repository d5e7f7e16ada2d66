package dev.outbox.torture;

import java.util.concurrent.atomic.AtomicInteger;

/** A named step of a worker, at which it can be made to die. */
enum Step {
    BEFORE_CLAIM,
    AFTER_CLAIM,
    BEFORE_EFFECT,
    AFTER_EFFECT,
    BEFORE_SETTLE,
    AFTER_SETTLE,
    BEFORE_COMMIT,
    AFTER_COMMIT;

    /** The exit code of a worker that died where it was told to. */
    static final int EXIT_CODE = 99;

    /** Where and when the worker dies: at the so-manieth pass of that step. */
    static final class Plan {
        private final Step step;
        private final AtomicInteger passes;

        /** @param step null for a worker that lives */
        Plan(Step step, int passes) {
            this.step = step;
            this.passes = new AtomicInteger(passes);
        }

        /** Ends the JVM on the spot, no hook run, no buffer flushed: what SIGKILL does, at an exact place. */
        void at(Step here) {
            if (here == step && passes.decrementAndGet() == 0) {
                Runtime.getRuntime().halt(EXIT_CODE);
            }
        }

        void calm() {
            passes.set(Integer.MAX_VALUE);
        }
    }
}
