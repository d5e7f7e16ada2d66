package dev.outbox.jdbc.internal.layout;

import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The notation of statements. Names in braces are the table and its logical columns, and braces around an assignment or a
 * value say which column it is for:
 *
 * <table>
 * <caption>What stands in a statement</caption>
 * <tr><td>{@code {table}}, {@code {topic}}, {@code t.{topic}}</td><td>the table, or what stands for a column where it is
 *     read</td></tr>
 * <tr><td>{@code SET {status = 2}}</td><td>an assignment to each column that the status is written to</td></tr>
 * <tr><td>{@code SET {due_on once = …}}</td><td>an assignment to the first of them only, for a value that would be another
 *     one each time, as {@code random()} is; the triggers of the migrations copy it</td></tr>
 * <tr><td>{@code ({topic:}, {status:}) VALUES ({topic: :topic}, {status: 0})}</td><td>the same for an insert: each column,
 *     and the value for each column</td></tr>
 * </table>
 *
 * <p>An assignment or a value for which the table has no column is left out, with its comma. Only nulls and defaults can be
 * meant for it, because anything else was refused before.
 */
final class Template {
    private static final Pattern NOTATION =
            Pattern.compile("([a-z_]+)(?:\\s+(once))?\\s*(?:([=:])\\s*(.*))?", Pattern.DOTALL);

    private static final Pattern LOGICAL = Pattern.compile("[a-z_]");

    private static final Pattern ALIAS = Pattern.compile("\\b[A-Za-z]+\\.$");

    private static final Pattern COMMA_BEFORE = Pattern.compile(",\\s*$");

    private static final Pattern COMMA_AFTER = Pattern.compile("^\\s*,");

    private final Layout layout;

    Template(Layout layout) {
        this.layout = layout;
    }

    String resolve(String statement) {
        StringBuilder resolved = new StringBuilder();
        int at = 0;
        for (int open = statement.indexOf('{'); open >= 0; open = statement.indexOf('{', at)) {
            resolved.append(statement, at, open);
            int close = closing(statement, open);
            if (!LOGICAL.matcher(statement).region(open + 1, close).lookingAt()) { // a literal, as '{}' and '{1,2}' are
                resolved.append(statement, open, close + 1);
                at = close + 1;
                continue;
            }
            at = close + 1 + put(statement.substring(open + 1, close), resolved, statement.substring(close + 1));
        }
        return resolved.append(statement, at, statement.length()).toString();
    }

    /** Answers how much of what follows is left out. */
    private int put(String notation, StringBuilder resolved, String following) {
        Matcher parts = NOTATION.matcher(notation);
        if (!parts.matches()) {
            throw new IllegalArgumentException("not a logical column, nor what is written to one: {" + notation + "}");
        }
        String logical = parts.group(1);
        if (parts.group(3) == null) {
            read(logical, resolved);
            return 0;
        }
        String value = resolve(parts.group(4));
        Function<Target, String> form = parts.group(3).equals("=")
                ? target -> target.column() + " = " + target.of(value)
                : value.isEmpty() ? Target::column : target -> target.of(value);
        List<Target> targets = layout.targets(logical);
        if (targets.isEmpty()) {
            return leaveOut(resolved, following);
        }
        resolved.append(targets.stream()
                .limit(parts.group(2) == null ? targets.size() : 1)
                .map(form)
                .collect(Collectors.joining(", ")));
        return 0;
    }

    private void read(String logical, StringBuilder resolved) {
        Matcher alias = ALIAS.matcher(resolved);
        if (logical.equals("table")) {
            resolved.append(layout.table());
        } else if (alias.find()) {
            String prefix = alias.group();
            resolved.setLength(alias.start());
            resolved.append(layout.reading(logical).after(prefix));
        } else {
            resolved.append(layout.reading(logical).text());
        }
    }

    private static int leaveOut(StringBuilder resolved, String following) {
        Matcher before = COMMA_BEFORE.matcher(resolved);
        if (before.find()) {
            resolved.setLength(before.start());
            return 0;
        }
        Matcher after = COMMA_AFTER.matcher(following);
        return after.find() ? after.end() : 0;
    }

    private static int closing(String statement, int open) {
        int depth = 0;
        for (int at = open; at < statement.length(); at++) {
            if (statement.charAt(at) == '{') {
                depth++;
            } else if (statement.charAt(at) == '}' && --depth == 0) {
                return at;
            }
        }
        throw new IllegalArgumentException("a brace is not closed: " + statement.substring(open));
    }
}
