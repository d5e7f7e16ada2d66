package dev.outbox.delivery;

import dev.outbox.internal.Require;
import java.time.Duration;

/**
 * Thrown by a destination that asks to be called again later: the broker throttles, or a time window is
 * closed. It counts neither as a failure nor as an attempt. {@link PollerBuilder#maxAge} bounds how long an item can be put
 * off.
 */
public class RetryAfterException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Duration delay;

    /**
     * @param delay zero or more
     * @param reason kept as the item's last error; must not contain the payload
     */
    public RetryAfterException(Duration delay, String reason) {
        super(Require.present("reason", reason));
        this.delay = Require.notNegative("delay", delay);
    }

    public Duration delay() {
        return delay;
    }
}
