package dev.outbox.jdbc.internal.catalog;

import dev.outbox.OutboxException;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The columns of a table, found by their names in any spelling: {@code CreatedAt}, {@code created_at}, {@code createdAt}. */
public final class ColumnNames {
    private final String table;
    private final List<String> names;

    /** @param table to name it in errors */
    public ColumnNames(String table, Collection<String> names) {
        this.table = table;
        this.names = names.stream().sorted().toList();
    }

    /** Whether there is a column of exactly this name. */
    public boolean has(String name) {
        return names.contains(name);
    }

    /** Whether there is a column with one of these names in any spelling, or several. */
    boolean hasLike(Collection<String> wanted) {
        List<String> folded = wanted.stream().map(ColumnNames::fold).toList();
        return names.stream().anyMatch(column -> folded.contains(fold(column)));
    }

    /**
     * The column with one of these names in any spelling.
     *
     * @param except a column that is not meant, whatever its spelling
     * @throws OutboxException if there are two
     */
    public Optional<String> like(Collection<String> wanted, @Nullable String except) {
        List<String> folded = wanted.stream().map(ColumnNames::fold).toList();
        List<String> found = names.stream()
                .filter(column -> folded.contains(fold(column)) && !column.equals(except))
                .toList();
        if (found.size() > 1) {
            throw new OutboxException("table \"" + table + "\" has more than one column for "
                    + String.join(" or ", wanted) + ": " + String.join(", ", found)
                    + "; rename or drop all but one");
        }
        return found.stream().findFirst();
    }

    /** What all spellings of a name have in common. */
    public static String fold(String name) {
        return name.replace("_", "").toLowerCase(Locale.ROOT);
    }
}
