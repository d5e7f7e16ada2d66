package dev.outbox.delivery;

import dev.outbox.internal.Require;
import java.time.Duration;

/** The result that a batch destination returns for one item. */
public sealed interface Outcome {
    /** The item was delivered. */
    static Outcome done() {
        return Done.DONE;
    }

    /** The item was not delivered. The retry policy decides when it is retried, or that it is Dead. */
    static Outcome retry(Throwable cause) {
        return new Retry(cause);
    }

    /** The item was not delivered. It is retried after the delay; the attempt does not count. See {@link RetryAfterException}. */
    static Outcome retryAfter(Duration delay, String reason) {
        return new Retry(new RetryAfterException(delay, reason));
    }

    /** The item was not delivered, because the destination cannot be reached. See {@link DestinationUnavailableException}. */
    static Outcome unavailable(Throwable cause) {
        return new Unavailable(cause);
    }

    /** The item can never be delivered: it is Dead at once. */
    static Outcome dead(Throwable cause) {
        return new Dead(cause);
    }

    /** The item was delivered. */
    enum Done implements Outcome {
        DONE
    }

    /** @param cause what went wrong, or a {@link RetryAfterException} */
    record Retry(Throwable cause) implements Outcome {
        public Retry {
            Require.present("cause", cause);
        }
    }

    /** @param cause why the destination cannot be reached */
    record Unavailable(Throwable cause) implements Outcome {
        public Unavailable {
            Require.present("cause", cause);
        }
    }

    /** @param cause why no retry can help */
    record Dead(Throwable cause) implements Outcome {
        public Dead {
            Require.present("cause", cause);
        }
    }
}
