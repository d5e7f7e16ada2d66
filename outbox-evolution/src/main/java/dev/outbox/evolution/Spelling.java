package dev.outbox.evolution;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How a database spells the column that documents call {@code CreatedAt}. */
public enum Spelling {
    /** {@code "CreatedAt"} */
    PASCAL,
    /** {@code created_at} */
    SNAKE,
    /** {@code "createdAt"} */
    CAMEL;

    /** A name in brackets in a statement, as in {@code SET [Status] = 2}. */
    private static final Pattern NAME = Pattern.compile("\\[(\\w+)]");

    /** The name as this spelling has it, not quoted. */
    public String of(String pascal) {
        return switch (this) {
            case PASCAL -> pascal;
            case SNAKE -> pascal.replaceAll("(?<=[a-z])(?=[A-Z])", "_").toLowerCase(Locale.ROOT);
            case CAMEL -> Character.toLowerCase(pascal.charAt(0)) + pascal.substring(1);
        };
    }

    /** The statement with its bracketed names spelled and quoted. */
    public String sql(String statement) {
        return NAME.matcher(statement).replaceAll(name -> Matcher.quoteReplacement("\"" + of(name.group(1)) + "\""));
    }
}
