package dev.outbox.migrations;

import dev.outbox.jdbc.Phase;
import java.util.Set;

/**
 * A problem with a table, or something that is still missing for a later phase.
 *
 * @param concern the kind of finding
 * @param text for people: what was found, where, and what to do
 * @param rows how many rows are affected; 0 if it is not about rows
 * @param wrong whether it is an error in the table's current phase
 * @param blocks the phases that the table cannot go to until this is corrected
 */
public record Finding(Concern concern, String text, long rows, boolean wrong, Set<Phase> blocks) {
    /** Kinds of findings. */
    public enum Concern {
        /** A required column is missing. */
        COLUMN_MISSING,
        /** A column has another type or collation than it must have. */
        COLUMN_TYPE,
        /**
         * A column allows nulls but must not, or must allow nulls but does not; or it requires a value that the library
         * does not write.
         */
        COLUMN_NULLABILITY,
        /** A required index is missing. */
        INDEX_MISSING,
        /** An index was left invalid by a failed build. */
        INDEX_INVALID,
        /** The trigger that keeps old and new columns equal is missing or disabled. */
        SYNC_MISSING,
        /** The new columns of rows are not filled yet. */
        NOT_BACKFILLED,
        /** Old and new columns of the same rows contradict each other. */
        DIFFERENT,
        /** Rows break a rule of the canonical table. */
        RULE_BROKEN,
        /** An application has recently written old columns only. */
        OLD_WRITER,
        /** A view, a publication, a foreign key or a similar object uses an old column. */
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
