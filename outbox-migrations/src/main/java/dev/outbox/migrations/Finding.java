package dev.outbox.migrations;

import dev.outbox.jdbc.Phase;
import java.util.Set;

/**
 * Something about a table that is not as it should be, or not yet.
 *
 * @param concern what kind of thing
 * @param text for people: what, where, and what to do
 * @param rows how many rows it is about; 0 if it is about none
 * @param wrong whether it is wrong in the phase the table is in
 * @param blocks the phases that the table must not go to before it is mended
 */
public record Finding(Concern concern, String text, long rows, boolean wrong, Set<Phase> blocks) {
    /** Kinds of findings. */
    public enum Concern {
        /** A column that must be there is not. */
        COLUMN_MISSING,
        /** A column has another type or collation than it must have. */
        COLUMN_TYPE,
        /** A column allows nulls and must not, or the other way round; or demands a value that nobody will give it. */
        COLUMN_NULLABILITY,
        /** An index that must be there is not. */
        INDEX_MISSING,
        /** An index was left invalid by a failed build. */
        INDEX_INVALID,
        /** The trigger that keeps old and new equal is missing or disabled. */
        SYNC_MISSING,
        /** Rows have nothing in their new columns yet. */
        NOT_BACKFILLED,
        /** Old and new columns of rows say different things. */
        DIFFERENT,
        /** Rows break a rule of the canonical table. */
        RULE_BROKEN,
        /** Somebody wrote old columns only, lately. */
        OLD_WRITER,
        /** A view, a publication or a foreign key names an old column. */
        OLD_READER,
        /** A step was begun and did not come to its end. */
        INTERRUPTED,
        /** The table is on its way back to phase 0. */
        LEAVING,
        /** The table came to its phase too recently for every node to have noticed. */
        TOO_RECENT,
        /** A poller that was alive a moment ago still reads the phase before. */
        OLD_POLLER
    }

    public Finding {
        blocks = Set.copyOf(blocks);
    }

    @Override
    public String toString() {
        return concern + ": " + text;
    }
}
