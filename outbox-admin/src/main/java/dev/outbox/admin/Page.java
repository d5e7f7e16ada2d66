package dev.outbox.admin;

import dev.outbox.internal.Require;
import dev.outbox.jdbc.TableKind;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One page of a list: a number of items, from the start or from the end of the page before. If items are added or
 * removed between two calls, the later page does not shift. Immutable.
 */
public final class Page {
    private static final int MAX_SIZE = 1_000;

    private final int size;
    private final Map<TableKind, String> positions;

    private Page(int size, Map<TableKind, String> positions) {
        this.size = Require.between("page size", size, 1, MAX_SIZE);
        this.positions = positions;
    }

    /** The first page, of 1 to 1,000 items. */
    public static Page first(int size) {
        return new Page(size, Map.of());
    }

    /**
     * The page after the one whose {@link ItemPage#next} had this {@link #token}.
     *
     * @throws IllegalArgumentException if the text is not a token
     */
    public static Page after(String token, int size) {
        Map<TableKind, String> positions = new EnumMap<>(TableKind.class);
        for (String part : Require.present("token", token).split(",", -1)) {
            int at = part.indexOf('@');
            for (TableKind kind : TableKind.values()) {
                if (at > 0 && part.substring(0, at).equals(kind.toString())) {
                    positions.put(kind, part.substring(at + 1));
                }
            }
        }
        if (positions.isEmpty()) {
            throw malformed(token);
        }
        return new Page(size, positions);
    }

    /** The page as text, for another call or process. Empty for a first page. */
    public String token() {
        StringBuilder token = new StringBuilder();
        positions.forEach((kind, position) -> token.append(token.isEmpty() ? "" : ",")
                .append(kind)
                .append('@')
                .append(position));
        return token.toString();
    }

    public int size() {
        return size;
    }

    /** Where this table's part of the page before ended; null at the start. */
    @Nullable
    String position(TableKind kind) {
        return positions.get(kind);
    }

    static IllegalArgumentException malformed(String token) {
        return new IllegalArgumentException(
                "\"" + token + "\" is not the token of a page; take it from the page before");
    }

    Page movedTo(Map<TableKind, String> ends) {
        Map<TableKind, String> moved = new EnumMap<>(TableKind.class);
        moved.putAll(positions);
        moved.putAll(ends);
        return new Page(size, moved);
    }
}
