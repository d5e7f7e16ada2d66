package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.jdbc.TableKind;
import dev.outbox.migrations.internal.InstallScript;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The parts of a freshly installed table, read from the script that installs it. */
record Canonical(List<Column> columns, List<Computed> computed, List<Check> checks, List<Index> indexes) {
    /**
     * @param definition its type and collation
     * @param constraint what the name of its default adds to the table's, or null
     * @param fallback its default, or null
     */
    record Column(
            String name,
            String definition,
            boolean notNull,
            @Nullable String constraint,
            @Nullable String fallback) {
        /** {@code work_item_id} of {@code WorkItemId}. */
        String logical() {
            return name.replaceAll("(?<=[a-z])(?=[A-Z])", "_").toLowerCase(Locale.ROOT);
        }
    }

    record Computed(String name, String expression) {}

    /** @param suffix what its name adds to the table's */
    record Check(String suffix, String condition) {}

    /** @param body its columns and its filter, without its options */
    record Index(String suffix, boolean unique, String body) {}

    private static final Pattern COLUMN = Pattern.compile(
            "^ {4}(\\w+) +([a-z]\\w*(?:\\((?:\\d+|max)\\))?(?: +COLLATE \\w+)?) +(NOT )?NULL"
                    + "(?:\\s+CONSTRAINT \\[TABLE(\\w+)] DEFAULT \\((.+?)\\))?,$",
            Pattern.MULTILINE);
    private static final Pattern COMPUTED = Pattern.compile("^ {4}(\\w+) +AS (\\(.+\\)),$", Pattern.MULTILINE);
    private static final Pattern CHECK =
            Pattern.compile("CONSTRAINT \\[TABLE(\\w+)] CHECK\\s+\\((.+)\\),?$", Pattern.MULTILINE);
    private static final Pattern INDEX = Pattern.compile(
            "CREATE (UNIQUE )?INDEX \\[TABLE(\\w+)] ON \\[TABLE] ([^;]+?)\\s+WITH \\(ALLOW_PAGE_LOCKS = OFF\\);");

    private static final Canonical OUTBOX = of(InstallScript.OUTBOX);
    private static final Canonical INBOX = of(InstallScript.INBOX);

    static Canonical of(TableKind kind) {
        return kind == TableKind.INBOX ? INBOX : OUTBOX;
    }

    private static Canonical of(InstallScript script) {
        String text = script.template(SqlServerInstall.FOLDER);
        List<Column> columns = new ArrayList<>();
        Matcher column = COLUMN.matcher(text);
        while (column.find()) {
            columns.add(new Column(
                    column.group(1),
                    column.group(2).replaceAll(" +", " "),
                    column.group(3) != null,
                    column.group(4),
                    column.group(5)));
        }
        return new Canonical(
                columns,
                COMPUTED.matcher(text)
                        .results()
                        .map(found -> new Computed(found.group(1), found.group(2)))
                        .toList(),
                CHECK.matcher(text)
                        .results()
                        .map(found -> new Check(found.group(1), found.group(2)))
                        .toList(),
                INDEX.matcher(text)
                        .results()
                        .map(found -> new Index(found.group(2), found.group(1) != null, found.group(3)))
                        .toList());
    }

    Optional<Computed> computed(String name) {
        return computed.stream()
                .filter(column -> column.name().equalsIgnoreCase(name))
                .findFirst();
    }

    Column column(String logical) {
        return columns.stream()
                .filter(column -> column.logical().equals(logical))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no column " + logical));
    }
}
