package dev.outbox.jdbc;

import java.time.Duration;

/** How far the migration of a table from a legacy layout to the canonical one has come. */
public enum Phase {
    /** The table is as the old application made it; the library has added nothing. */
    LEGACY("0"),
    /** New columns stand beside the old ones, and the database keeps both equal; existing rows wait for the backfill. */
    ADDITIVE("1"),
    /** Every row has values in both the old and the new columns; claims use the new ones. */
    DUAL("2"),
    /** Only the new columns count; the database fills the old ones for applications that still read them. */
    FLIPPED("3"),
    /**
     * The old columns are gone, and the canonical names that they had taken are in use. Only tables that needed an
     * interim name pass through it, between {@link #FLIPPED} and {@link #CLEAN}.
     */
    RENAMING("3 renaming"),
    /** The table is as if newly installed. */
    CLEAN("4");

    /**
     * How often the library looks at a table that is not canonical yet, by default; a migration step waits for twice as
     * long.
     */
    public static final Duration REFRESH_INTERVAL = Duration.ofSeconds(5);

    private final String mark;

    Phase(String mark) {
        this.mark = mark;
    }

    /** The phase as the table's comment states it. */
    public String mark() {
        return mark;
    }

    /** Its number, 0 to 4; {@link #RENAMING} is a part of 3. */
    public int number() {
        return mark.charAt(0) - '0';
    }

    public boolean before(Phase other) {
        return compareTo(other) < 0;
    }

    @Override
    public String toString() {
        return "phase " + mark;
    }
}
