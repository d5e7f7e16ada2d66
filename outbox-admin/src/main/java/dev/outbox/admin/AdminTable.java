package dev.outbox.admin;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.Layout;
import dev.outbox.jdbc.internal.TableName;

/**
 * A table as it was found in the catalog.
 *
 * @param name with its schema
 * @param layout its columns; only to be used if it is {@link #ready}
 * @param audited whether the audit table is beside it
 * @param listed whether the table of the pollers is beside it
 */
record AdminTable(Box box, TableName name, Phase phase, Layout layout, boolean audited, boolean listed) {
    static final String AUDIT = "outbox_audit";
    static final String POLLERS = "outbox_pollers";

    /** Whether nothing about it will change. */
    boolean isSettled() {
        return phase == Phase.CLEAN && audited && listed;
    }

    /** This table, if its columns are the new ones. */
    AdminTable ready() {
        if (phase.before(Phase.FLIPPED)) {
            throw new OutboxException("table \"" + name + "\" is in " + phase + " of its migration, and this needs "
                    + Phase.FLIPPED + " or later; apply the migrations up to that phase first");
        }
        return this;
    }

    /** This table, if actions on it can be recorded. */
    AdminTable auditable() {
        if (!audited) {
            throw new OutboxException("there is no table \"" + name.schema() + "." + AUDIT + "\" to record in who did"
                    + " what, and without a record nothing is changed; create it with"
                    + " OutboxMigrations.installAdmin(...)");
        }
        return ready();
    }
}
