package dev.outbox.jdbc.internal.inbox;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How late a message may be sent again, and so how long an inbox has to remember it.
 *
 * @param longest the longest time after which a message may be sent again
 */
public record Redelivery(Duration longest) {
    /**
     * Refuses to forget messages that may still be sent again: these would have their effect twice.
     *
     * @param name of the option
     * @param window how long the inbox remembers messages; null means for ever
     */
    public void check(String name, @Nullable Duration window) {
        if (window != null && window.compareTo(longest) < 0) {
            throw new IllegalArgumentException(name + " must be at least maxRedelivery, " + longest + ", was " + window
                    + ": a message that comes again after its record was purged would have its effect twice;"
                    + " set maxRedelivery(...) to the longest time after which your broker may send one again");
        }
    }
}
