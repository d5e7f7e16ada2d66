package dev.outbox.jdbc.internal;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How far a table has come from the old columns to the new ones. The migrations write it into the table's comment, for
 * the columns of phases 1 to 3 are the same.
 */
public enum Phase {
    /** Old columns only. */
    LEGACY(0, "legacy"),
    /** Both, the new ones being filled. */
    ADDITIVE(1, "additive"),
    /** Both, the new ones filled. */
    DUAL(2, "dual"),
    /** Both, the old ones deprecated and filled by the database. */
    FLIPPED(3, "flipped"),
    /** Flipped, and new columns with an interim name have got their own. */
    SETTLING(3, "settling"),
    /** New columns only. */
    CLEAN(4, "clean");

    /** How often a library looks at a table that is not canonical yet; a migration step waits for twice of it. */
    public static final Duration REFRESH_INTERVAL = Duration.ofSeconds(5);

    private static final Pattern MARKER =
            Pattern.compile("^dev\\.outbox (inbox )?phase ([0-4])( settling)?\\b.*$", Pattern.MULTILINE);

    private final int number;
    private final String word;

    Phase(int number, String word) {
        this.number = number;
        this.word = word;
    }

    /** The phase that a table's comment tells; empty if it tells none. */
    public static Optional<Phase> read(@Nullable String comment) {
        Matcher marker = MARKER.matcher(comment == null ? "" : comment);
        return marker.find()
                ? Optional.of(marker.group(3) != null ? SETTLING : of(Integer.parseInt(marker.group(2))))
                : Optional.empty();
    }

    private static Phase of(int number) {
        return number == 4 ? CLEAN : values()[number];
    }

    public int number() {
        return number;
    }

    public boolean before(Phase other) {
        return compareTo(other) < 0;
    }

    /** As in {@code phase 1 (additive)}. */
    @Override
    public String toString() {
        return "phase " + number + " (" + word + ")";
    }
}
