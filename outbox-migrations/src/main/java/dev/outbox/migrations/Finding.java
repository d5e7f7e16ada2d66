package dev.outbox.migrations;

import dev.outbox.jdbc.Phase;
import java.util.Set;

/**
 * Something about a table that is not as it should be, or not yet.
 *
 * @param concern its kind
 * @param text for people: what was found, where, and what to do
 * @param rows how many rows are affected; 0 if it is not about rows
 * @param wrong whether it is wrong in the phase the table is in
 * @param blocks the phases that the table cannot go to until this is corrected
 */
public record Finding(Concern concern, String text, long rows, boolean wrong, Set<Phase> blocks) {
    /** Kinds of findings. */
    public enum Concern {
        /** A column that must be there is not. */
        COLUMN_MISSING,
        /** A column has another type or collation than it must have. */
        COLUMN_TYPE,
        /** A column allows nulls and must not, or the other way round; or it needs a value that the library does not write. */
        COLUMN_NULLABILITY,
        /** An index that must be there is not. */
        INDEX_MISSING,
        /** An index was left invalid by a failed build. */
        INDEX_INVALID,
        /** The trigger that keeps old and new equal is missing or disabled. */
        SYNC_MISSING,
        /** The new columns of rows are not filled yet. */
        NOT_BACKFILLED,
        /** Old and new columns of the same rows contradict each other. */
        DIFFERENT,
        /** Rows break a rule of the canonical table. */
        RULE_BROKEN,
        /** An application has recently written old columns only. */
        OLD_WRITER,
        /** A view, a publication, a foreign key or the like uses an old column. */
        OLD_READER,
        /** A step began and was interrupted. */
        INTERRUPTED,
        /** The table is on its way back to phase 0. */
        LEAVING,
        /** The table came to its phase so recently that some nodes may not have noticed. */
        TOO_RECENT,
        /** A poller with a recent heartbeat still reads an earlier phase. */
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
