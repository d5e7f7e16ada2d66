package dev.outbox.internal;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Text from outside as it may stand in a log: without line breaks or other control characters, it forges no line. */
public final class OneLine {
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\u2028\\u2029]+");

    private OneLine() {}

    /** The same text with a space for each run of control characters; "null" for none. */
    public static String of(@Nullable Object text) {
        return CONTROL.matcher(String.valueOf(text)).replaceAll(" ");
    }
}
