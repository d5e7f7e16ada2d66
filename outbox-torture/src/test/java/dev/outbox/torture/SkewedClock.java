package dev.outbox.torture;

import java.time.Duration;
import java.time.Instant;

/** The clock of the application, which can be wrong. {@link ClockAgent} puts it where the library asks for the time. */
public final class SkewedClock {
    private static volatile long skewMillis;

    private SkewedClock() {}

    static void skew(Duration skew) {
        skewMillis = skew.toMillis();
    }

    /** Instead of {@link System#currentTimeMillis()}. */
    public static long currentTimeMillis() {
        return System.currentTimeMillis() + skewMillis;
    }

    /** Instead of {@link Instant#now()}. */
    public static Instant now() {
        return Instant.ofEpochMilli(currentTimeMillis());
    }
}
