package dev.outbox;

import dev.outbox.spi.Settlement;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What is kept of an exception: its types and messages, bounded, on one line, without obvious secrets. */
final class ErrorText {
    private static final int MAX_CAUSES = 3;
    private static final Pattern CREDENTIALS_IN_URL = Pattern.compile("://[^/\\s]+@");
    private static final Pattern SECRET =
            Pattern.compile("(?i)(password|passwd|pwd|secret|token|api[-_]?key|authorization)([\"']?\\s*[=:]\\s*)"
                    + "(bearer\\s+|basic\\s+)?(\"[^\"]*\"?|'[^']*'?|\\S+)");
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\u2028\\u2029]+");

    private ErrorText() {}

    static String of(Throwable error) {
        StringBuilder text = new StringBuilder();
        Throwable cause = error;
        for (int depth = 0; cause != null && depth <= MAX_CAUSES; depth++) {
            text.append(depth == 0 ? "" : ", caused by ")
                    .append(cause.getClass().getName());
            String message = message(cause);
            if (message != null) {
                text.append(": ").append(message);
            }
            cause = cause.getCause() == cause ? null : cause.getCause();
        }
        String bounded = text.substring(0, Math.min(text.length(), 2 * Settlement.MAX_ERROR));
        String clean = CONTROL.matcher(bounded).replaceAll(" ");
        clean = CREDENTIALS_IN_URL.matcher(clean).replaceAll("://***@");
        clean = SECRET.matcher(clean).replaceAll("$1$2***");
        return clean.substring(0, Math.min(clean.length(), Settlement.MAX_ERROR));
    }

    /** A message that cannot be made is no reason to lose the rest. */
    private static @Nullable String message(Throwable error) {
        try {
            return error.getMessage();
        } catch (RuntimeException e) {
            return "its message could not be read: " + e.getClass().getName();
        }
    }
}
