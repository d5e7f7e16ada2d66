package dev.outbox.admin;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.sql.Sql;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A table as it was found in the catalog.
 *
 * @param name with its schema
 * @param layout its columns; only to be used if it is {@link #ready}
 * @param audited whether the audit table is beside it
 * @param listed whether the table of the pollers is beside it, with all its columns
 * @param resolved statements as they read for it; grows, for reading one anew takes longer than a small answer does
 */
record AdminTable(
        Box box,
        TableName name,
        Phase phase,
        Layout layout,
        boolean audited,
        boolean listed,
        Map<String, Sql> resolved) {
    static final String AUDIT = "outbox_audit";
    static final String POLLERS = "outbox_pollers";

    AdminTable(Box box, TableName name, Phase phase, Layout layout, boolean audited, boolean listed) {
        this(box, name, phase, layout, audited, listed, new ConcurrentHashMap<>());
    }

    /** @param statement with logical names */
    Sql sql(String statement) {
        return resolved.computeIfAbsent(statement, layout::resolve);
    }

    /** @param by the logical column that {@code {by}} stands for */
    Sql sql(String statement, String by) {
        return resolved.computeIfAbsent(
                by + " " + statement,
                key -> layout.with("by", Reading.column(column(by))).resolve(statement));
    }

    /** The quoted name of a logical column. */
    String column(String logical) {
        return layout.column(logical);
    }

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
