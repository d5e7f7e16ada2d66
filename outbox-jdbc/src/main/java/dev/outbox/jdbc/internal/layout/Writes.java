package dev.outbox.jdbc.internal.layout;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where the writes of a statement go while a table is on its way from the old columns to the new ones.
 *
 * <p>Statements name each logical column once. Here {@code SET {due_on} = now()} becomes an assignment to the new
 * column and one to its old counterpart, so that whoever reads either finds the same, and the database has nothing to
 * copy. An insert gets the old columns in the same way, and the columns it left to their defaults, which they do not
 * have during a migration. What the table has no column for yet is left out; only nulls and defaults can be meant
 * for it, for anything else was refused before.
 *
 * @param targets what an assignment to a logical column writes; a column that is not in it is written as it is
 * @param defaults logical column to the value that an insert gives it where it says nothing of it
 */
public record Writes(Map<String, List<Target>> targets, Map<String, String> defaults) {
    /** To the columns as they are. */
    public static final Writes PLAIN = new Writes(Map.of(), Map.of());

    /** Where a statement says UPDATE t, the table is called so in its FROM. */
    private static final Pattern WRITE = Pattern.compile(
            "INSERT INTO \\{table}(?:\\s+AS\\s+[a-z]+)?\\s*\\(|UPDATE \\{table}(?:\\s+[a-z]+)?(?:\\s+WITH \\([^()]*\\))?\\s+SET\\s"
                    + "|DO UPDATE SET\\s|UPDATE t SET\\s");

    private static final Pattern ASSIGNMENT = Pattern.compile("\\s*\\{([a-z_]+)}\\s*=\\s*(.*)", Pattern.DOTALL);

    private static final Pattern VALUES = Pattern.compile("\\s*(VALUES\\s*\\(|SELECT\\s)");

    /** Where a list ends, outside of parentheses. */
    private static final Set<String> AFTER_LIST = Set.of("FROM", "WHERE", "RETURNING", "OUTPUT", "ON");

    /** Evaluated twice it would give two values: such a one is written once, and the database copies it. */
    private static final Pattern DIFFERS_EACH_TIME = Pattern.compile("\\brandom\\(\\)");

    public Writes {
        targets = Map.copyOf(targets);
        defaults = Map.copyOf(defaults);
    }

    /**
     * One physical column that a logical one is written to.
     *
     * @param column quoted
     * @param value what it is given, with {@code %1$s} for the value of the logical column
     */
    public record Target(String column, String value) {
        /** With the same value. */
        public Target(String column) {
            this(column, "%1$s");
        }

        private String of(String expression) {
            return value.formatted(expression);
        }
    }

    /** The statement with all of its writes; logical names that it reads stay as they are. */
    String rewrite(String statement) {
        if (targets.isEmpty() && defaults.isEmpty()) {
            return statement;
        }
        StringBuilder rewritten = new StringBuilder();
        Matcher write = WRITE.matcher(statement);
        int at = 0;
        while (write.find(at)) {
            rewritten.append(statement, at, write.end());
            at = write.group().startsWith("INSERT")
                    ? insert(statement, write.end(), rewritten)
                    : assignments(statement, write.end(), rewritten);
        }
        return rewritten.append(statement, at, statement.length()).toString();
    }

    private int assignments(String statement, int from, StringBuilder rewritten) {
        int end = endOfList(statement, from);
        List<String> all = new ArrayList<>();
        for (String one : split(statement.substring(from, end))) {
            Matcher assignment = ASSIGNMENT.matcher(one);
            if (!assignment.matches()) {
                throw new IllegalArgumentException("not an assignment to a logical column: " + one.strip());
            }
            String expression = assignment.group(2).strip();
            for (Target target : targets(assignment.group(1), expression)) {
                all.add(target.column() + " = " + target.of(expression));
            }
        }
        rewritten.append(String.join(",\n    ", all)).append('\n');
        return end;
    }

    private int insert(String statement, int from, StringBuilder rewritten) {
        int columnsEnd = endOfList(statement, from);
        List<String> names = new ArrayList<>();
        for (String column : split(statement.substring(from, columnsEnd))) {
            names.add(column.strip().replaceAll("[{}]", ""));
        }
        Matcher values = VALUES.matcher(statement).region(columnsEnd + 1, statement.length());
        if (!values.lookingAt()) {
            throw new IllegalArgumentException("an insert goes on with VALUES or SELECT: " + statement.strip());
        }
        int end = endOfList(statement, values.end());
        List<String> expressions = new ArrayList<>();
        split(statement.substring(values.end(), end)).forEach(expression -> expressions.add(expression.strip()));
        defaults.forEach((name, value) -> {
            if (!names.contains(name)) {
                names.add(name);
                expressions.add(value);
            }
        });
        List<String> columns = new ArrayList<>();
        List<String> given = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            for (Target target : targets(names.get(i), expressions.get(i))) {
                columns.add(target.column());
                given.add(target.of(expressions.get(i)));
            }
        }
        rewritten
                .append(String.join(", ", columns))
                .append(")\n")
                .append(values.group().strip())
                .append(' ')
                .append(String.join(", ", given))
                .append('\n');
        return end;
    }

    private List<Target> targets(String logical, String expression) {
        List<Target> all = targets.getOrDefault(logical, List.of(new Target("{" + logical + "}")));
        return DIFFERS_EACH_TIME.matcher(expression).find() && !all.isEmpty() ? all.subList(0, 1) : all;
    }

    /** Where the list that starts here ends: at a closing parenthesis, or at what follows a list. */
    private static int endOfList(String text, int from) {
        int depth = 0;
        String before = "";
        for (int at = from; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '\'') {
                at = text.indexOf('\'', at + 1);
            } else if (c == '(' || c == '[') {
                depth++;
            } else if (c == ')' || c == ']') {
                if (depth-- == 0) {
                    return at;
                }
            } else if (Character.isJavaIdentifierStart(c)) {
                int end = at;
                while (end < text.length() && Character.isJavaIdentifierPart(text.charAt(end))) {
                    end++;
                }
                String word = text.substring(at, end).toUpperCase(Locale.ROOT);
                if (depth == 0 && AFTER_LIST.contains(word) && !before.equals("DISTINCT")) {
                    return at;
                }
                before = word;
                at = end - 1;
            }
        }
        return text.length();
    }

    /** At the commas outside of parentheses. */
    private static List<String> split(String list) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int at = 0; at < list.length(); at++) {
            char c = list.charAt(at);
            if (c == '\'') {
                at = list.indexOf('\'', at + 1);
            } else if (c == '(' || c == '[') {
                depth++;
            } else if (c == ')' || c == ']') {
                depth--;
            } else if (c == ',' && depth == 0) {
                parts.add(list.substring(from, at));
                from = at + 1;
            }
        }
        parts.add(list.substring(from));
        return parts;
    }
}
