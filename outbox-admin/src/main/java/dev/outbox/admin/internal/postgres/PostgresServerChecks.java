package dev.outbox.admin.internal.postgres;

import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.CheckLimits;
import dev.outbox.admin.internal.Findings;
import dev.outbox.jdbc.internal.catalog.Quoted;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.postgresql.PGConnection;

/** What the doctor checks about a server of PostgreSQL and the way to it. */
final class PostgresServerChecks {
    /** The setting of the role, the database or the server: this session may have set another. */
    static final String ISOLATION = """
            SELECT reset_val FROM pg_catalog.pg_settings WHERE name = 'default_transaction_isolation'
            """;

    static final String PROCESS = "SELECT pg_backend_pid() AS pid";

    /** What keeps vacuum from removing dead rows. Of sessions of other roles this role may see no more than that they exist. */
    static final String HOLDERS = """
            SELECT 'session ' || pid || COALESCE(' of ' || usename, '') || COALESCE(' (' || NULLIF(application_name, '') || ')', '')
                    || COALESCE(', ' || state, '') AS holder,
                (EXTRACT(EPOCH FROM clock_timestamp() - xact_start) * 1000)::bigint AS millis
            FROM pg_catalog.pg_stat_activity
            WHERE pid <> pg_backend_pid() AND xact_start IS NOT NULL AND backend_type IS DISTINCT FROM 'autovacuum worker'
            UNION ALL
            SELECT 'prepared transaction ' || gid || ' of ' || owner,
                (EXTRACT(EPOCH FROM clock_timestamp() - prepared) * 1000)::bigint
            FROM pg_catalog.pg_prepared_xacts
            ORDER BY 2 DESC
            """;

    static final String HIDDEN = """
            SELECT count(*) AS sessions, current_user AS role
            FROM pg_catalog.pg_stat_activity
            WHERE usesysid IS NOT NULL
              AND NOT pg_has_role('pg_read_all_stats', 'USAGE') AND NOT pg_has_role(usesysid, 'USAGE')
            """;

    /** A slot that is not read keeps WAL, and any slot may keep rows that a standby or a decoder still has to see. */
    static final String SLOTS = """
            SELECT slot_name || ' (' || COALESCE(plugin, slot_type) || ')'
                    || COALESCE(', used by session ' || active_pid || COALESCE(' of ' || a.usename, '')
                        || COALESCE(' (' || NULLIF(a.application_name, '') || ')', ''), '') AS slot, active,
                pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) AS behind,
                COALESCE(GREATEST(age(xmin), age(catalog_xmin)), 0) AS transactions
            FROM pg_catalog.pg_replication_slots LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = active_pid
            ORDER BY slot_name
            """;

    private static final String POOLER_ADVICE =
            "in transaction mode everything works but notify(...): give that a data source that connects directly; prepared"
                    + " statements need max_prepared_statements of PgBouncer 1.21 or later, or prepareThreshold=0 in the url."
                    + " Statement mode cannot be used";

    /** How often a pooler in transaction mode is given the chance to answer by another process. */
    private static final int LOOKS = 5;

    private static final int HOLDERS_NAMED = 5;

    private final AdminSession session;
    private final CheckLimits limits;

    PostgresServerChecks(AdminSession session, CheckLimits limits) {
        this.session = session;
        this.limits = limits;
    }

    void isolation(Findings findings) throws SQLException {
        String isolation = session.one(ISOLATION, row -> row.getString("reset_val"));
        if (!isolation.equals("read committed")) {
            findings.warn(
                    "transactions are not READ COMMITTED by default",
                    "default_transaction_isolation is " + isolation,
                    "pollers set what they need themselves; but a producer's transaction may fail at commit (40001) and has to"
                            + " be repeated as a whole");
        }
        findings.okIfNothingFound("transactions are READ COMMITTED by default");
    }

    /** The driver was told one process, and another one answers: there is a pooler in between. */
    void pooler(Findings findings) throws SQLException {
        if (!session.connection().isWrapperFor(PGConnection.class)) {
            findings.skipped("the connection is not one of the PostgreSQL driver", "", "");
            return;
        }
        int told = session.connection().unwrap(PGConnection.class).getBackendPID();
        Set<Integer> answering = new TreeSet<>();
        for (int i = 0; i < LOOKS; i++) {
            answering.add(session.one(PROCESS, row -> row.getInt("pid")));
        }
        if (answering.size() > 1) {
            findings.note(
                    "connections go through a pooler in transaction mode, such as PgBouncer",
                    "the driver was told process " + told + ", processes " + answering + " answer on one connection",
                    POOLER_ADVICE);
        } else if (!answering.contains(told)) {
            findings.note(
                    "connections go through a pooler, such as PgBouncer",
                    "the driver was told process " + told + ", process "
                            + answering.iterator().next() + " answers",
                    "look up pool_mode in its configuration: " + POOLER_ADVICE);
        }
        findings.okIfNothingFound("connections lead to the server directly");
    }

    void snapshots(Findings findings) throws SQLException {
        List<String> holders = session
                .list(HOLDERS, row -> new Holder(row.getString("holder"), Duration.ofMillis(row.getLong("millis"))))
                .stream()
                .filter(holder -> holder.age.compareTo(limits.transaction()) > 0)
                .map(holder -> holder.name + " for " + holder.age)
                .toList();
        if (!holders.isEmpty()) {
            findings.warn(
                    "a transaction has been open for a long time",
                    String.join("; ", holders.subList(0, Math.min(HOLDERS_NAMED, holders.size()))),
                    "vacuum cannot remove rows that died since, and claims become slower and slower: end it"
                            + " (pg_terminate_backend, ROLLBACK PREPARED), and set idle_in_transaction_session_timeout");
        }
        hidden(findings);
        findings.okIfNothingFound("no transaction has been open for longer than " + limits.transaction());
    }

    private record Holder(String name, Duration age) {}

    private record Hidden(long sessions, String role) {}

    /** A session that this role may not see is not a session without a transaction. */
    private void hidden(Findings findings) throws SQLException {
        Hidden hidden = session.one(HIDDEN, row -> new Hidden(row.getLong("sessions"), row.getString("role")));
        if (hidden.sessions > 0) {
            findings.skipped(
                    "this role may not see for how long other sessions have had a transaction",
                    hidden.sessions + " sessions hidden",
                    "GRANT pg_monitor TO " + Quoted.postgres(hidden.role));
        }
    }

    private record Slot(String name, boolean active, String behind, long transactions) {}

    void slots(Findings findings) throws SQLException {
        List<Slot> slots = session.list(
                SLOTS,
                row -> new Slot(
                        row.getString("slot"),
                        row.getBoolean("active"),
                        row.getString("behind"),
                        row.getLong("transactions")));
        List<String> idle = slots.stream()
                .filter(slot -> !slot.active)
                .map(slot -> slot.name + ", " + slot.behind + " of WAL behind")
                .toList();
        if (!idle.isEmpty()) {
            findings.warn(
                    "a replication slot is not in use",
                    String.join("; ", idle),
                    "it keeps WAL until the disk is full: start its consumer, or pg_drop_replication_slot");
        }
        List<String> holding = slots.stream()
                .filter(slot -> slot.transactions > limits.slotAge())
                .map(slot -> slot.name + ", " + slot.transactions + " transactions back")
                .toList();
        if (!holding.isEmpty()) {
            findings.warn(
                    "a replication slot keeps vacuum from cleaning up",
                    String.join("; ", holding),
                    "its consumer is behind, or a standby with hot_standby_feedback runs a long query: end that, let the"
                            + " consumer catch up, or pg_drop_replication_slot");
        }
        findings.okIfNothingFound("every replication slot is in use, and none is far behind");
    }
}
