package dev.outbox.cli;

import java.util.regex.Pattern;

/** Keeps passwords out of what is printed, wherever they came from: drivers like to quote whole addresses. */
final class Secrets {
    /** {@code ?password=…&} of PostgreSQL, {@code ;password=…;} of SQL Server, {@code //user:…@} of others. */
    private static final Pattern PARAMETER = Pattern.compile(
            "((?:password|pwd|sslpassword|secret|token)\\s*=)(\\{[^}]*}|[^&;\\s]*)", Pattern.CASE_INSENSITIVE);

    private static final Pattern AUTHORITY = Pattern.compile("(//[^/:@\\s]*:)([^/@\\s]+)(@)");

    private Secrets() {}

    static boolean areIn(String url) {
        return PARAMETER.matcher(url).find() || AUTHORITY.matcher(url).find();
    }

    static String masked(String text) {
        String masked = PARAMETER.matcher(text).replaceAll("$1***");
        return AUTHORITY.matcher(masked).replaceAll("$1***$3");
    }
}
