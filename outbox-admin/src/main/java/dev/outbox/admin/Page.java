package dev.outbox.admin;

import dev.outbox.internal.Require;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which part of a list: so many items, from the start or from where the page before ended. What comes in or goes out
 * between two pages shifts nothing. Immutable.
 */
public final class Page {
    private static final int MAX_SIZE = 1_000;

    private final int size;
    private final Map<Box, String> positions;

    private Page(int size, Map<Box, String> positions) {
        this.size = Require.between("page size", size, 1, MAX_SIZE);
        this.positions = positions;
    }

    /** The first so many, 1 to 1,000. */
    public static Page first(int size) {
        return new Page(size, Map.of());
    }

    /**
     * The next so many after the page whose {@link ItemPage#next} had this {@link #token}.
     *
     * @throws IllegalArgumentException if it is no token
     */
    public static Page after(String token, int size) {
        Map<Box, String> positions = new EnumMap<>(Box.class);
        for (String part : Require.present("token", token).split(",", -1)) {
            int at = part.indexOf('@');
            for (Box box : Box.values()) {
                if (at > 0 && part.substring(0, at).equals(box.toString())) {
                    positions.put(box, part.substring(at + 1));
                }
            }
        }
        if (positions.isEmpty()) {
            throw malformed(token);
        }
        return new Page(size, positions);
    }

    /** As text, to be carried to another call or process. Empty for a first page. */
    public String token() {
        StringBuilder token = new StringBuilder();
        positions.forEach((box, position) ->
                token.append(token.isEmpty() ? "" : ",").append(box).append('@').append(position));
        return token.toString();
    }

    public int size() {
        return size;
    }

    /** Where this table's part of the page before ended; null at the start. */
    @Nullable
    String position(Box box) {
        return positions.get(box);
    }

    static IllegalArgumentException malformed(String token) {
        return new IllegalArgumentException("\"" + token + "\" is not the end of a page; take it from the page before");
    }

    Page movedTo(Map<Box, String> ends) {
        Map<Box, String> moved = new EnumMap<>(Box.class);
        moved.putAll(positions);
        moved.putAll(ends);
        return new Page(size, moved);
    }
}
