package dev.outbox.delivery;

import dev.outbox.internal.Require;
import java.time.Duration;

/** A destination's verdict on one item of a batch. */
public sealed interface Outcome {
    /** Delivered. */
    static Outcome done() {
        return Done.DONE;
    }

    /** Not delivered; the retry policy decides when it is tried again, or that it is Dead. */
    static Outcome retry(Throwable cause) {
        return new Retry(cause);
    }

    /** Not delivered; tried again after the delay, without counting an attempt. See {@link RetryAfterException}. */
    static Outcome retryAfter(Duration delay, String reason) {
        return new Retry(new RetryAfterException(delay, reason));
    }

    /** Not delivered, because the destination cannot be reached at all. See {@link DestinationUnavailableException}. */
    static Outcome unavailable(Throwable cause) {
        return new Unavailable(cause);
    }

    /** Will never be delivered: Dead at once. */
    static Outcome dead(Throwable cause) {
        return new Dead(cause);
    }

    /** Delivered. */
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
