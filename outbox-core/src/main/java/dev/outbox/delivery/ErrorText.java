package dev.outbox.delivery;

import dev.outbox.internal.OneLine;
import dev.outbox.spi.Settlement;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What is kept of an exception: its types and messages, bounded, on one line, without obvious secrets. */
final class ErrorText {
    private static final int MAX_CAUSES = 3;
    private static final Pattern CREDENTIALS_IN_URL = Pattern.compile("://[^/\\s]+@");
    private static final Pattern SECRET =
            Pattern.compile("(?i)(password|passwd|pwd|secret|token|api[-_]?key|authorization)([\"']?\\s*[=:]\\s*)"
                    + "(bearer\\s+|basic\\s+)?(\"[^\"]*\"?|'[^']*'?|\\S+)");

    /** Without one of these the pattern matches nothing. Looking for them costs far less, at every failed attempt. */
    private static final List<String> SECRET_PARTS = List.of("passw", "pwd", "secret", "token", "key", "authorization");

    private ErrorText() {}

    static String of(Throwable error) {
        StringBuilder text = new StringBuilder();
        Throwable cause = error;
        for (int depth = 0; cause != null && depth <= MAX_CAUSES; depth++) {
            text.append(depth == 0 ? "" : ", caused by ").append(described(cause));
            cause = causeOf(cause);
        }
        return clean(text.toString());
    }

    /** A copy for the log: the same stack traces, but the texts as they are kept. */
    static Throwable forLog(Throwable error) {
        return copy(error, 0);
    }

    private static Throwable copy(Throwable error, int depth) {
        Throwable cause = causeOf(error);
        Logged copy = new Logged(
                clean(described(error)), cause == null || depth == MAX_CAUSES ? null : copy(cause, depth + 1));
        copy.setStackTrace(error.getStackTrace());
        return copy;
    }

    /** Stands for another throwable in the log. */
    private static final class Logged extends Throwable {
        private static final long serialVersionUID = 1L;

        private final String text;

        Logged(String text, @Nullable Throwable cause) {
            super(text, cause, false, true);
            this.text = text;
        }

        @Override
        @SuppressWarnings("OverrideThrowableToString") // its own type must not show
        public String toString() {
            return text;
        }
    }

    private static @Nullable Throwable causeOf(Throwable error) {
        try {
            Throwable cause = error.getCause();
            return cause == error ? null : cause;
        } catch (Throwable e) {
            return null;
        }
    }

    private static String described(Throwable error) {
        String message = message(error);
        String name = error.getClass().getName();
        return message == null ? name : name + ": " + message;
    }

    private static String clean(String text) {
        String bounded = text.substring(0, Math.min(text.length(), 2 * Settlement.MAX_ERROR));
        String clean = OneLine.of(bounded);
        if (clean.contains("://")) {
            clean = CREDENTIALS_IN_URL.matcher(clean).replaceAll("://***@");
        }
        if (SECRET_PARTS.stream().anyMatch(clean.toLowerCase(Locale.ROOT)::contains)) {
            clean = SECRET.matcher(clean).replaceAll("$1$2***");
        }
        return clean.substring(0, Math.min(clean.length(), Settlement.MAX_ERROR));
    }

    /** If an exception cannot give its message, the rest of the text is kept. */
    private static @Nullable String message(Throwable error) {
        try {
            return error.getMessage();
        } catch (Throwable e) {
            return "its message could not be read: " + e.getClass().getName();
        }
    }
}
