package dev.outbox.jdbc;

import java.time.Duration;

/** How far a table is on its way from a legacy layout to the canonical one. */
public enum Phase {
    /** As the old application made it; nothing of ours in it. */
    LEGACY("0"),
    /** New columns beside the old ones, kept equal by the database; rows of before wait for the backfill. */
    ADDITIVE("1"),
    /** Every row has both sides; claims go by the new columns. */
    DUAL("2"),
    /** Only the new columns count; the database fills the old ones for those who still read them. */
    FLIPPED("3"),
    /**
     * The old columns are gone, and the canonical names that they had taken are in use. Only tables that needed an
     * interim name pass through it, between {@link #FLIPPED} and {@link #CLEAN}.
     */
    RENAMING("3 renaming"),
    /** As if freshly installed. */
    CLEAN("4");

    /**
     * How often a library looks at a table that is not canonical yet, if not told otherwise; a migration step waits for
     * twice of it.
     */
    public static final Duration REFRESH_INTERVAL = Duration.ofSeconds(5);

    private final String mark;

    Phase(String mark) {
        this.mark = mark;
    }

    /** As the table's comment has it. */
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
