package dev.outbox.delivery.internal;

import dev.outbox.spi.WakeUp;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Wakes the pollers of this JVM. */
public final class LocalWakeUp implements WakeUp {
    /** By identity of the entry, not of the callback: one callback may subscribe twice. */
    private final Set<Entry> entries = ConcurrentHashMap.newKeySet();

    @Override
    public Subscription subscribe(Runnable wake) {
        Entry entry = new Entry(wake);
        entries.add(entry);
        return () -> entries.remove(entry);
    }

    public void ring() {
        entries.forEach(entry -> entry.wake.run());
    }

    private static final class Entry {
        private final Runnable wake;

        Entry(Runnable wake) {
            this.wake = wake;
        }
    }
}
