package dev.outbox.migrations.internal;

import dev.outbox.OutboxException;
import java.time.Duration;

/** Waits, so that others get their turn. */
public final class Pause {
    private Pause() {}

    public static void of(Duration length) {
        try {
            Thread.sleep(length.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new OutboxException("the migration was interrupted; run it again to continue", e, true);
        }
    }
}
