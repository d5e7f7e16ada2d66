package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.TableKind;
import dev.outbox.migrations.internal.InstallScript;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a freshly installed table, read from the script that installs it. So an upgraded table cannot end differently,
 * and nothing is written twice.
 *
 * @param primaryKey its columns
 * @param options storage parameters, as in {@code vacuum_truncate = off}
 * @param comments of columns, by name
 */
record Canonical(
        List<Column> columns,
        List<String> primaryKey,
        List<Check> checks,
        List<Index> indexes,
        List<String> options,
        Map<String, String> comments) {

    /**
     * @param type as the catalog writes it
     * @param bytewise whether it is collated "C"
     * @param fallback its default, or null
     */
    record Column(
            String name,
            String type,
            boolean bytewise,
            boolean notNull,
            @Nullable String fallback) {
        String definition() {
            return type + (bytewise ? BYTEWISE : "");
        }

        /** Whether a column that was found can be used as this one. */
        boolean isLike(dev.outbox.jdbc.internal.catalog.Column found) {
            return (found.definition().equals(type) || (Pair.isText(found.definition()) && Pair.isText(type)))
                    && isBytewise(found) == bytewise;
        }

        /** As it is found when it was just added. */
        dev.outbox.jdbc.internal.catalog.Column added() {
            return new dev.outbox.jdbc.internal.catalog.Column(
                    name,
                    type,
                    type,
                    dev.outbox.jdbc.internal.catalog.Column.UNLIMITED,
                    bytewise ? "C" : null,
                    true,
                    false,
                    false,
                    false,
                    true,
                    null,
                    null);
        }
    }

    /** @param suffix what its name adds to the table's */
    record Check(String suffix, String condition) {}

    /**
     * @param suffix what its name adds to the table's
     * @param body what follows the table's name in its definition
     */
    record Index(String suffix, boolean unique, String body) {}

    private static final String BYTEWISE = " COLLATE \"C\"";

    /** The column that numbers the rows. */
    static final String SEQUENCE = "sequence";

    private static final Pattern COLUMN = Pattern.compile(
            "^    (\\w+) +(\\w+) *(COLLATE \"C\" ?)?(NOT NULL ?)?" + "(?:GENERATED [^\\n]*?|DEFAULT ([^,\\n]+))?,$");
    private static final Pattern PRIMARY_KEY = Pattern.compile("PRIMARY KEY \\(([^)]+)\\)");
    private static final Pattern CHECK = Pattern.compile("CONSTRAINT \"TABLE(\\w+)\" CHECK \\((.+)\\),?$");
    private static final Pattern INDEX =
            Pattern.compile("CREATE (UNIQUE )?INDEX \"TABLE(\\w+)\" ON \"TABLE\" ([^;]+);", Pattern.MULTILINE);
    private static final Pattern OPTION = Pattern.compile("^    (\\w+ = [\\w.]+),?$");
    private static final Pattern COMMENT =
            Pattern.compile("COMMENT ON COLUMN \"TABLE\"\\.(\\w+) IS '([^']*)';", Pattern.MULTILINE);

    private static final Canonical OUTBOX = of(InstallScript.OUTBOX);
    private static final Canonical INBOX = of(InstallScript.INBOX);

    static Canonical of(TableKind kind) {
        return kind == TableKind.OUTBOX ? OUTBOX : INBOX;
    }

    private static Canonical of(InstallScript script) {
        String text = script.template(PostgresInstall.FOLDER);
        List<Column> columns = new ArrayList<>();
        List<Check> checks = new ArrayList<>();
        List<String> options = new ArrayList<>();
        for (String line : text.lines().toList()) {
            Matcher column = COLUMN.matcher(line);
            Matcher check = CHECK.matcher(line);
            Matcher option = OPTION.matcher(line);
            if (column.matches()) {
                columns.add(new Column(
                        column.group(1),
                        type(column.group(2)),
                        column.group(3) != null,
                        column.group(4) != null,
                        column.group(5)));
            } else if (check.find()) {
                checks.add(new Check(check.group(1), check.group(2)));
            } else if (option.matches()) {
                options.add(option.group(1));
            }
        }
        Matcher key = PRIMARY_KEY.matcher(text);
        List<String> primaryKey =
                key.find() ? Pattern.compile(", ").splitAsStream(key.group(1)).toList() : List.of();
        List<Index> indexes = INDEX.matcher(text)
                .results()
                .map(index -> new Index(index.group(2), index.group(1) != null, index.group(3)))
                .toList();
        Map<String, String> comments = new LinkedHashMap<>();
        COMMENT.matcher(text).results().forEach(comment -> comments.put(comment.group(1), comment.group(2)));
        return new Canonical(columns, primaryKey, checks, indexes, options, comments);
    }

    /** The type of a column that was found, as a statement declares it. */
    static String definition(dev.outbox.jdbc.internal.catalog.Column found) {
        return found.definition() + (isBytewise(found) ? BYTEWISE : "");
    }

    static boolean isBytewise(dev.outbox.jdbc.internal.catalog.Column found) {
        return "C".equals(found.collation());
    }

    private static String type(String written) {
        return written.equals("timestamptz") ? "timestamp with time zone" : written;
    }

    Column column(String name) {
        return columns.stream()
                .filter(column -> column.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no column " + name));
    }
}
