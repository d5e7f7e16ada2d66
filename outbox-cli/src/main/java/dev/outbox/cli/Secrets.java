package dev.outbox.cli;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Keeps passwords out of what is printed, wherever they came from: errors of drivers may quote a whole address. Of an address
 * only the parts that are known to be harmless are shown. Any other text is cut where a secret seems to begin.
 */
final class Secrets {
    private static final String NAME = "(?:[\\w.-]*(?:password|passwd|pwd|secret|token|credential)[\\w.-]*)";

    private static final Pattern PARAMETER = Pattern.compile("(?i)(" + NAME + "\\s*=).*", Pattern.DOTALL);

    private static final Pattern AUTHORITY = Pattern.compile("//\\S*@");

    /** Anything but a host, a port and a database may be a password in the wrong place. */
    private static final Pattern POSTGRES = Pattern.compile(
            "(jdbc:postgresql:(?://(?:[\\w.-]+|\\[[\\da-fA-F:.]+])?(?::\\d+)?(?:,(?:[\\w.-]+|\\[[\\da-fA-F:.]+])(?::\\d+)?)*"
                    + "(?:/[\\w.%+~$-]*)?|/|[\\w.%+~$-]*))(?:\\?.*)?",
            Pattern.UNICODE_CHARACTER_CLASS | Pattern.DOTALL);

    private static final Pattern SQL_SERVER = Pattern.compile(
            "(jdbc:sqlserver://(?:\\[[\\da-fA-F:.]+]|[\\w.-]*)(?:\\\\[\\w.$-]+)?(?::\\d+)?)(?:;.*)?",
            Pattern.UNICODE_CHARACTER_CLASS | Pattern.DOTALL);

    private static final Pattern ADDRESS = Pattern.compile("jdbc:.*", Pattern.DOTALL);

    private Secrets() {}

    /** Whether it is an address of one of the two databases, without user and password before the host. */
    static boolean isAddress(String url) {
        return POSTGRES.matcher(url).matches() || SQL_SERVER.matcher(url).matches();
    }

    /** Whether a parameter of this address may be a password, however it is written. */
    static boolean areIn(String url) {
        return PARAMETER.matcher(url).find()
                || PARAMETER.matcher(decoded(url)).find()
                || (!isAddress(url) && AUTHORITY.matcher(url).find());
    }

    private static String decoded(String url) {
        try {
            return URLDecoder.decode(url, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException malformed) {
            return url;
        }
    }

    /** An address as it may be shown: database, host, port and, on PostgreSQL, the name of the database. */
    static String shown(String url) {
        for (Pattern known : new Pattern[] {POSTGRES, SQL_SERVER}) {
            Matcher matcher = known.matcher(url);
            if (matcher.matches()) {
                return matcher.group(1);
            }
        }
        int end = url.indexOf(':', url.startsWith("jdbc:") ? "jdbc:".length() : 0);
        return (end < 0 ? "" : url.substring(0, end + 1)) + "***";
    }

    /** A text without addresses and without what follows the name of a secret. */
    static String masked(String text) {
        String masked = ADDRESS.matcher(text).replaceAll("jdbc:***");
        masked = PARAMETER.matcher(masked).replaceAll("$1***");
        return AUTHORITY.matcher(masked).replaceAll("//***@");
    }
}
