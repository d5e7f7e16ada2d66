package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.ColumnNames;
import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.jdbc.internal.catalog.Index;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What an outbox or inbox table has to be like, and what is wrong with one that is not. It is asked when an outbox is
 * built: a column of another type or an index that is disabled would otherwise be found out by the first message, or by
 * nobody at all, as slowness.
 *
 * <p>Indexes count by what they serve, not by their names. What cannot be seen is taken for good: the
 * text of a default or of a filter by a login that may only use the table, and filters at all on a Babelfish server.
 */
final class SqlServerSchema {
    private SqlServerSchema() {}

    /** @param types any of these will do; the first is the canonical one */
    private record Rule(String column, List<String> types, int length, boolean nullable, boolean defaulted) {
        static Rule of(String column, String type) {
            return new Rule(column, List.of(type), 0, true, false);
        }

        /** A table that came from a legacy layout may have the other one. */
        static Rule time(String column) {
            return new Rule(column, List.of("datetime2", "datetimeoffset"), 0, true, false);
        }

        /** At least so many characters, or bytes. */
        static Rule of(String column, String type, int length) {
            return new Rule(column, List.of(type), length, true, false);
        }

        static Rule number(String column, String... types) {
            return new Rule(column, List.of(types), 0, false, true);
        }

        Rule notNull() {
            return new Rule(column, types, length, false, defaulted);
        }

        boolean admits(Column found) {
            return types.contains(found.type()) && found.characters() >= length && found.nullable() == nullable;
        }

        String definition() {
            String size = length == 0 ? "" : "(" + (length == MAX ? "max" : String.valueOf(length)) + ")";
            return types.get(0) + size + (nullable ? " NULL" : " NOT NULL");
        }
    }

    private static final int MAX = Column.UNLIMITED;

    private static final List<Rule> ITEM = List.of(
            Rule.number("sequence", "bigint"),
            Rule.of("work_item_id", "uniqueidentifier").notNull(),
            Rule.of("owner_token", "uniqueidentifier"),
            Rule.time("created_on").notNull(),
            Rule.time("due_on"),
            Rule.time("first_due_on"),
            Rule.time("locked_until"),
            Rule.time("processed_on"),
            Rule.number("attempt_count", "int"),
            Rule.number("status", "tinyint", "smallint", "int"),
            Rule.number("priority", "smallint", "tinyint", "int"),
            Rule.number("blocks_key", "bit"),
            Rule.of("message_key", "nvarchar", 255),
            Rule.of("correlation_id", "nvarchar", 255),
            Rule.of("tenant_id", "nvarchar", 255),
            Rule.of("content_type", "nvarchar", 255),
            Rule.of("processed_by", "nvarchar", 255),
            Rule.of("last_error", "nvarchar", 2_000),
            Rule.of("headers", "nvarchar", MAX),
            Rule.of("payload", "nvarchar", MAX),
            Rule.of("payload_bytes", "varbinary", MAX),
            Rule.of("exact_key", "nvarchar", 256));

    private static final List<Rule> OUTBOX =
            List.of(Rule.of("topic", "nvarchar", 255).notNull(), Rule.of("message_id", "nvarchar", 255));

    private static final List<Rule> INBOX = List.of(
            Rule.of("topic", "nvarchar", 255),
            Rule.of("message_id", "nvarchar", 255).notNull(),
            Rule.of("consumer", "nvarchar", 255).notNull(),
            Rule.of("source", "nvarchar", 255).notNull(),
            Rule.of("exact_source", "nvarchar", 256),
            Rule.of("exact_message_id", "nvarchar", 256),
            new Rule("hash", List.of("varbinary", "binary"), 32, true, false),
            Rule.time("first_seen_on").notNull(),
            Rule.time("last_seen_on").notNull(),
            Rule.number("receipt_count", "int"));

    /**
     * An index that is needed, in logical names.
     *
     * @param suffix how its name ends in the canonical scripts
     */
    record Need(String suffix, boolean unique, String keys, String filter) {
        /** @param shown whether the server shows filters */
        boolean isServedBy(Index index, boolean shown) {
            List<String> found = index.keys().stream().map(ColumnNames::fold).toList();
            List<String> wanted =
                    Arrays.stream(keys.split(", ")).map(ColumnNames::fold).toList();
            boolean begins = found.size() >= wanted.size()
                    && found.subList(0, wanted.size()).equals(wanted);
            boolean only = !unique || (index.unique() && found.size() == wanted.size());
            return begins && only && (!shown || filters(index));
        }

        private boolean filters(Index index) {
            return index.filtered() != filter.isEmpty()
                    && (index.filter().isEmpty() || terms(index.filter()).equals(terms(filter)));
        }

        private static Set<String> terms(String filter) {
            return Arrays.stream(filter.split("(?i)\\band\\b"))
                    .map(term -> ColumnNames.fold(term).replaceAll("[^a-z0-9<>=]", ""))
                    .collect(Collectors.toSet());
        }

        @Override
        public String toString() {
            return (unique ? "unique " : "") + "index on (" + keys + ")" + (filter.isEmpty() ? "" : " WHERE " + filter);
        }
    }

    /** What both kinds have; those of an inbox begin with the consumer, except that of the Dead, which is for people. */
    private static final List<Need> SEARCHES = List.of(
            new Need("_Ready", false, "priority, due_on, sequence", "status = 0 AND message_key IS NULL"),
            new Need("_KeyDue", false, "due_on", "status = 0 AND message_key IS NOT NULL"),
            new Need("_Key", false, "exact_key, status DESC, sequence", "status < 2 AND message_key IS NOT NULL"),
            new Need("_KeyBlocked", false, "exact_key", "status = 3 AND blocks_key = 1"),
            new Need("_KeyHigh", false, "exact_key", "status = 0 AND priority = 0 AND message_key IS NOT NULL"),
            new Need("_Leased", false, "sequence", "status = 1"),
            new Need("_Done", false, "processed_on", "status = 2"));

    private static final Need DEAD = new Need("_Dead", false, "processed_on, work_item_id", "status = 3");

    static List<Need> needs(boolean inbox) {
        List<Need> needs = new ArrayList<>();
        needs.add(new Need("_Order", true, "sequence", ""));
        if (inbox) {
            needs.add(new Need("_Message", true, "consumer, exact_source, exact_message_id", ""));
            needs.add(new Need("_Item", true, "work_item_id", "topic IS NOT NULL"));
            SEARCHES.forEach(
                    need -> needs.add(new Need(need.suffix, need.unique, "consumer, " + need.keys, need.filter)));
        } else {
            needs.add(new Need("_Item", true, "work_item_id", ""));
            needs.addAll(SEARCHES);
        }
        needs.add(DEAD);
        return needs;
    }

    /** The columns that an outbox, or an inbox, has to have. */
    static List<String> columns(boolean inbox) {
        return rules(inbox).stream().map(Rule::column).toList();
    }

    /** WorkItemId, workitemid and work_item_id are work_item_id. */
    static String logical(String column) {
        return columns(true).stream()
                .filter(name -> ColumnNames.fold(name).equals(ColumnNames.fold(column)))
                .findFirst()
                .orElse(column);
    }

    private static List<Rule> rules(boolean inbox) {
        List<Rule> rules = new ArrayList<>(ITEM);
        rules.addAll(inbox ? INBOX : OUTBOX);
        return rules;
    }

    /** Everything that is wrong with a table as an outbox, or as an inbox. */
    static List<String> problems(FoundTable table, boolean inbox) {
        List<String> problems = new ArrayList<>();
        Map<String, Column> found = new HashMap<>();
        for (Column column : table.columns().values()) {
            Column other = found.put(logical(column.name()), column);
            if (other != null) {
                problems.add("it has two columns for the same value, [" + other.name() + "] and [" + column.name()
                        + "]: rename or remove one of them");
            }
        }
        List<String> missing = new ArrayList<>(columns(inbox));
        missing.removeAll(found.keySet());
        if (!missing.isEmpty()) {
            problems.add("it has no column " + String.join(", ", missing));
        }
        for (Rule rule : rules(inbox)) {
            Column column = found.remove(rule.column);
            if (column != null) {
                problems.addAll(problems(rule, column, table.name().name() + "_sequence"));
            }
        }
        for (Column stranger : found.values()) {
            if (!stranger.filled()) {
                problems.add("column [" + stranger.name() + "] does not belong to the library, is NOT NULL and has no"
                        + " default, so no message can be stored: give it a default or allow nulls");
            }
        }
        if (missing.isEmpty()) {
            needs(inbox).forEach(need -> problem(need, table.indexes().values()).ifPresent(problems::add));
        }
        return problems;
    }

    private static List<String> problems(Rule rule, Column column, String sequence) {
        List<String> problems = new ArrayList<>();
        if (!rule.admits(column)) {
            problems.add("column [" + column.name() + "] must be " + rule.definition() + ", was " + column.definition()
                    + (column.nullable() ? " NULL" : " NOT NULL"));
        }
        if (rule.column.equals("sequence") && !draws(column, sequence)) {
            problems.add("column [" + column.name() + "] must have the default NEXT VALUE FOR [" + sequence
                    + "], which numbers the rows");
        } else if (rule.defaulted && !column.hasDefault()) {
            problems.add("column [" + column.name() + "] must have a default, because inserts leave it out");
        }
        return problems;
    }

    /** Whether it is numbered by this sequence, as far as that can be seen. */
    private static boolean draws(Column column, String sequence) {
        String text = column.defaultText();
        return column.hasDefault() && (text == null || ColumnNames.fold(text).contains(ColumnNames.fold(sequence)));
    }

    private static Optional<String> problem(Need need, Collection<Index> indexes) {
        boolean shown = indexes.stream().anyMatch(Index::filtered);
        List<Index> serving =
                indexes.stream().filter(index -> need.isServedBy(index, shown)).toList();
        if (serving.isEmpty()) {
            return Optional.of("it has no " + need);
        }
        return serving.stream().noneMatch(Index::valid)
                ? Optional.of("index [" + serving.get(0).name() + "] is disabled: ALTER INDEX ... REBUILD")
                : Optional.empty();
    }
}
