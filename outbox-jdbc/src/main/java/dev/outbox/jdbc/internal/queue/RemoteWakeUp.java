package dev.outbox.jdbc.internal.queue;

import dev.outbox.spi.WakeUp;

/** Wakes pollers of other processes, and those of this process when another one does. */
public interface RemoteWakeUp extends WakeUp {
    /** Wakes the others soon. Returns at once and never throws. */
    void send();
}
