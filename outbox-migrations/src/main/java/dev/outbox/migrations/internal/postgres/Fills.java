package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.TableKind;
import dev.outbox.migrations.internal.Literal;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The values of new columns that have no old column. */
final class Fills {
    private static final Map<String, String> OUTBOX = Map.of(
            "created_on", "statement_timestamp()",
            "attempt_count", "0",
            "priority", "1",
            "blocks_key", "false");

    private static final Map<String, String> INBOX = Map.of(
            "work_item_id", "gen_random_uuid()",
            "first_seen_on", "statement_timestamp()",
            "last_seen_on", "statement_timestamp()",
            "created_on", "{first_seen_on}",
            "attempt_count", "0",
            "receipt_count", "1",
            "priority", "1",
            "blocks_key", "false");

    private static final Pattern COLUMN = Pattern.compile("\\{(\\w+)}");

    private Fills() {}

    /**
     * @param column writes another column of the same row
     * @return null if the column stays null
     */
    static @Nullable String of(
            LegacyTable table, @Nullable String consumer, String canonical, UnaryOperator<String> column) {
        if (canonical.equals("consumer") && consumer != null) {
            return Literal.text(consumer);
        }
        String fill = (table.kind() == TableKind.OUTBOX ? OUTBOX : INBOX).get(canonical);
        return fill == null
                ? null
                : COLUMN.matcher(fill).replaceAll(name -> Matcher.quoteReplacement(column.apply(name.group(1))));
    }
}
