package dev.outbox.internal;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Argument checks whose messages say what was wrong, the value and the rule. */
public final class Require {
    private Require() {}

    public static <T> T present(String name, @Nullable T value) {
        return Objects.requireNonNull(value, () -> name + " must not be null");
    }

    /** Text that is neither blank nor longer than {@code max} characters. */
    public static String text(String name, @Nullable String text, int max) {
        String value = present(name, text);
        if (value.isBlank()) {
            throw new IllegalArgumentException(name + " must not be blank");
        }
        return atMost(name, value, max);
    }

    /** Like {@link #text}, or null where the value is absent. */
    public static @Nullable String optionalText(String name, @Nullable String value, int max) {
        return value == null ? null : text(name, value, max);
    }

    private static String atMost(String name, String value, int max) {
        if (value.length() > max) {
            throw new IllegalArgumentException(name + " must be at most " + max + " characters, was " + value.length());
        }
        return value;
    }

    public static int between(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + " must be between " + min + " and " + max + ", was " + value);
        }
        return value;
    }

    public static Duration between(String name, @Nullable Duration length, Duration min, Duration max) {
        Duration value = present(name, length);
        if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
            throw new IllegalArgumentException(name + " must be between " + min + " and " + max + ", was " + value);
        }
        return value;
    }

    public static Duration notNegative(String name, @Nullable Duration value) {
        return between(name, value, Duration.ZERO, Duration.ofDays(36_500));
    }
}
