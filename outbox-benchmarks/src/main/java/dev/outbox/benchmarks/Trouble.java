package dev.outbox.benchmarks;

import dev.outbox.delivery.RetryPolicy;
import java.time.Duration;

/** What goes wrong at a destination. */
enum Trouble {
    /** The destination never accepts the first message of every 20th key, so that no message of that key arrives. */
    BAD_KEYS("every 20th key's first message always fails") {
        @Override
        RetryPolicy retry() {
            return RetryPolicy.standard();
        }

        @Override
        boolean fails(int number, int call, Backlog backlog) {
            return number < backlog.keys() && !isGood(number, backlog);
        }

        @Override
        boolean isGood(int number, Backlog backlog) {
            return number % backlog.keys() % 20 != 0;
        }
    },

    /**
     * Every call fails with a probability of one half. The verdict depends on the message and on how often it was delivered,
     * so each run has the same failures. Delays of at most 10 ms measure the rate and not the delays of the retry policy.
     * With 100 attempts no message becomes Dead by chance; one of a thousand fails ten times in a row.
     */
    HALF_OF_ALL_CALLS("half of all calls fail") {
        @Override
        RetryPolicy retry() {
            return new RetryPolicy(Duration.ofMillis(10), Duration.ofMillis(10), 100);
        }

        @Override
        boolean fails(int number, int call, Backlog backlog) {
            long seed = 16L * number + call + 1;
            long mixed = (seed ^ (seed >>> 30)) * 0xbf58476d1ce4e5b9L;
            mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
            return mixed < 0;
        }

        @Override
        boolean isGood(int number, Backlog backlog) {
            return true;
        }
    };

    private final String description;

    Trouble(String description) {
        this.description = description;
    }

    String description() {
        return description;
    }

    /** The retry policy of all contenders, with and without the trouble. */
    abstract RetryPolicy retry();

    /**
     * Whether a delivery fails.
     *
     * @param number the message's
     * @param call how often it was delivered before
     */
    abstract boolean fails(int number, int call, Backlog backlog);

    /** Whether a message arrives in spite of the trouble. */
    abstract boolean isGood(int number, Backlog backlog);
}
