package dev.outbox.internal;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Text from outside for a log: without line breaks and other control characters, so that it cannot forge a line. */
public final class OneLine {
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\u2028\\u2029]+");

    private OneLine() {}

    /** The same text with a space for each run of control characters; "null" for none. */
    public static String of(@Nullable Object text) {
        String line = String.valueOf(text);
        return isOneLine(line) ? line : CONTROL.matcher(line).replaceAll(" ");
    }

    /** Mostly it is, and this is faster than the pattern. */
    private static boolean isOneLine(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isISOControl(c) || c == '\u2028' || c == '\u2029') {
                return false;
            }
        }
        return true;
    }
}
