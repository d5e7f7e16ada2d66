package dev.outbox.sqlserver;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What a statement asks of rows, one condition at a time, found in its text: the parser drops collations. */
final class Conditions {
    private static final String BINARY = "Latin1_General_100_BIN2";

    private static final Pattern BEGIN = Pattern.compile("\\((?!SELECT\\b)|\\b(WHERE|ON|AND|OR|WHEN)\\b");

    private static final Pattern WORD = Pattern.compile("N?'[^']*'|[();,]|\\b[A-Z]+\\b");

    private static final Set<String> ENDS = Set.of(
            "AND", "OR", "THEN", "ORDER", "GROUP", "WHERE", "ON", "JOIN", "CROSS", "UNION", "ELSE", "END", "UPDATE",
            "INSERT", "DELETE", "SET", "BEGIN", ";", ",");

    /** What is asked of more than one table, or by cases, has conditions of its own inside. */
    private static final Pattern COMPOUND = Pattern.compile("\\b(SELECT|WHERE|AND|OR|CASE)\\b");

    private static final Pattern COMPARED = Pattern.compile("[=<>]|\\bLIKE\\b|\\bIN\\b");

    private static final Pattern COLLATION = Pattern.compile("\\bCOLLATE (\\w+)");

    private Conditions() {}

    private record Condition(String text, String end) {}

    private static List<Condition> of(String statement) {
        List<Condition> all = new ArrayList<>();
        Matcher begin = BEGIN.matcher(statement);
        while (begin.find()) {
            Matcher word = WORD.matcher(statement).region(begin.end(), statement.length());
            int depth = 0;
            while (word.find() && depth >= 0 && (depth > 0 || !ENDS.contains(word.group()))) {
                depth += word.group().equals("(") ? 1 : word.group().equals(")") ? -1 : 0;
                if (depth < 0) {
                    break;
                }
            }
            String text = statement.substring(begin.end(), word.hitEnd() ? statement.length() : word.start());
            if (COMPARED.matcher(text).find() && !COMPOUND.matcher(text).find()) {
                all.add(new Condition(text.strip(), word.hitEnd() ? "" : word.group()));
            }
        }
        return all;
    }

    /**
     * Comparisons of columns of two collations, or by two collations, which are error 468. A variable has the collation of
     * what it is compared with.
     *
     * @param other physical columns of another collation than ours
     * @param ours physical columns of ours
     */
    static List<String> inConflict(String statement, Collection<String> other, Collection<String> ours) {
        Set<String> variables = Pattern.compile("(\\w+) n?varchar\\(\\w+\\) COLLATE " + BINARY)
                .matcher(statement)
                .results()
                .map(MatchResult::group)
                .map(column -> column.substring(0, column.indexOf(' ')))
                .collect(Collectors.toSet());
        return of(statement).stream()
                .map(Condition::text)
                .filter(text -> {
                    long collations = COLLATION
                            .matcher(text)
                            .results()
                            .map(found -> found.group(1))
                            .distinct()
                            .count();
                    boolean isOther = other.stream().anyMatch(column -> text.contains("[" + column + "]"));
                    boolean isOurs = ours.stream().anyMatch(column -> text.contains("[" + column + "]"))
                            || variables.stream().anyMatch(column -> text.matches(".*\\b[a-z]\\." + column + "\\b.*"));
                    return collations > 1 || (collations == 0 && isOther && isOurs);
                })
                .distinct()
                .toList();
    }

    /** Conditions of a search, not of a CASE, that hide a column in a function. */
    static List<String> hidingAColumn(String statement) {
        return of(statement).stream()
                .filter(condition -> !condition.end.equals("THEN"))
                .map(Condition::text)
                .filter(text -> Pattern.compile("\\b(COALESCE|ISNULL)\\(([a-z]+\\.)?\\[")
                        .matcher(text)
                        .find())
                .distinct()
                .toList();
    }
}
