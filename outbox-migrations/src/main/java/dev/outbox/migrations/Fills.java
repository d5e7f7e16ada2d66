package dev.outbox.migrations;

import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a row gets in a column that no old column tells of. */
final class Fills {
    private static final Pattern COLUMN = Pattern.compile("\\{(\\w+)}");

    private Fills() {}

    /**
     * @param column writes another column of the same row
     * @return null if the column stays null
     */
    static @Nullable String of(
            LegacyTable table, @Nullable String consumer, String canonical, UnaryOperator<String> column) {
        if (canonical.equals("consumer") && consumer != null) {
            return Quoted.text(consumer);
        }
        String fill = table.kind().fills.get(canonical);
        return fill == null
                ? null
                : COLUMN.matcher(fill).replaceAll(name -> Matcher.quoteReplacement(column.apply(name.group(1))));
    }
}
