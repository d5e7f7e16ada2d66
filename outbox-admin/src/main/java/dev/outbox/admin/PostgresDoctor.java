package dev.outbox.admin;

import dev.outbox.admin.Diagnosis.Severity;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.migrations.TableReport;
import dev.outbox.migrations.Upgrade;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.postgresql.PGConnection;

/** What bites on PostgreSQL. */
final class PostgresDoctor implements AdminDialect.Examiner {
    /** As it was set for the role, the database or the server: this session may have another. */
    private static final String SETTINGS = """
            SELECT (SELECT reset_val FROM pg_catalog.pg_settings WHERE name = 'default_transaction_isolation') AS isolation,
                current_setting('autovacuum') AS autovacuum
            """;

    private static final String PROCESS = "SELECT pg_backend_pid() AS pid";

    /** Who keeps vacuum from removing what is dead. Of sessions of others this role may see that they are, and no more. */
    private static final String HOLDERS = """
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

    private static final String HIDDEN = """
            SELECT count(*) AS database, current_user AS role
            FROM pg_catalog.pg_stat_activity
            WHERE usesysid IS NOT NULL
              AND NOT pg_has_role('pg_read_all_stats', 'USAGE') AND NOT pg_has_role(usesysid, 'USAGE')
            """;

    /** A slot may keep WAL, for nobody reads it, and rows: those that a standby or a decoder may still want to see. */
    private static final String SLOTS = """
            SELECT slot_name || ' (' || COALESCE(plugin, slot_type) || ')'
                    || COALESCE(', used by session ' || active_pid || COALESCE(' of ' || a.usename, '')
                        || COALESCE(' (' || NULLIF(a.application_name, '') || ')', ''), '') AS slot, active,
                pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) AS behind,
                COALESCE(GREATEST(age(xmin), age(catalog_xmin)), 0) AS transactions
            FROM pg_catalog.pg_replication_slots LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = active_pid
            ORDER BY slot_name
            """;

    private static final String TABLE = """
            SELECT COALESCE((SELECT option_value FROM pg_options_to_table(c.reloptions)
                    WHERE option_name = 'autovacuum_enabled'), 'true') AS enabled,
                (SELECT option_value FROM pg_options_to_table(c.reloptions)
                    WHERE option_name = 'autovacuum_vacuum_scale_factor')::double precision AS scale_factor,
                COALESCE(s.n_dead_tup, 0) AS dead, COALESCE(s.n_live_tup, 0) AS live, s.last_autovacuum,
                pg_total_relation_size(c.oid) AS bytes
            FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_stat_user_tables s ON s.relid = c.oid
            WHERE c.oid = to_regclass(:table)
            """;

    private static final double MOST_SCALE_FACTOR = 0.05;

    /** So often a pooler in transaction mode may answer by another process. */
    private static final int LOOKS = 5;

    private final AdminSession session;
    private final DoctorLimits limits;
    private final Map<TableKind, Figures> known = new EnumMap<>(TableKind.class);

    PostgresDoctor(AdminSession session, DoctorLimits limits) {
        this.session = session;
        this.limits = limits;
    }

    @Override
    public Map<String, Doctor.Examination> database() {
        Map<String, Doctor.Examination> checks = new LinkedHashMap<>();
        checks.put("isolation", this::isolation);
        checks.put("pooler", this::pooler);
        checks.put("snapshots", this::snapshots);
        checks.put("replication slots", this::slots);
        return checks;
    }

    @Override
    public Map<String, Doctor.Examination> table(AdminTable table) {
        Map<String, Doctor.Examination> checks = new LinkedHashMap<>();
        checks.put("schema", () -> schema(table));
        checks.put("autovacuum", () -> autovacuum(table));
        checks.put("dead tuples", () -> deadTuples(table));
        checks.put("size", () -> size(table));
        return checks;
    }

    private interface Reader<T> {
        T read(ResultSet rows) throws SQLException;
    }

    private <T> T ask(String sql, Reader<T> reader) throws SQLException {
        try (Statement statement = session.connection().createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            return reader.read(rows);
        }
    }

    private List<Diagnosis> isolation() throws SQLException {
        String isolation = ask(SETTINGS, rows -> {
            rows.next();
            return rows.getString("isolation");
        });
        return List.of(
                isolation.equals("read committed")
                        ? Diagnosis.ok("isolation", "transactions are READ COMMITTED by default")
                        : new Diagnosis(
                                "isolation",
                                Severity.WARN,
                                "transactions are not READ COMMITTED by default",
                                "default_transaction_isolation is " + isolation,
                                "pollers set what they need themselves; but a producer's transaction may fail at commit"
                                        + " (40001) and has to be repeated as a whole"));
    }

    /** The driver was told another process than the one that answers: somebody is in between. */
    private List<Diagnosis> pooler() throws SQLException {
        if (!session.connection().isWrapperFor(PGConnection.class)) {
            return List.of(Diagnosis.skipped("pooler", "the connection is not one of the PostgreSQL driver"));
        }
        int told = session.connection().unwrap(PGConnection.class).getBackendPID();
        Set<Integer> answering = new TreeSet<>();
        for (int i = 0; i < LOOKS; i++) {
            answering.add(ask(PROCESS, rows -> {
                rows.next();
                return rows.getInt("pid");
            }));
        }
        if (answering.equals(Set.of(told))) {
            return List.of(Diagnosis.ok("pooler", "connections lead to the server directly"));
        }
        boolean changing = answering.size() > 1;
        return List.of(new Diagnosis(
                "pooler",
                Severity.NOTE,
                changing
                        ? "connections go through a pooler in transaction mode, such as PgBouncer"
                        : "connections go through a pooler, such as PgBouncer",
                "the driver was told process " + told + ", "
                        + (changing
                                ? "processes " + answering + " answer on one connection"
                                : "process " + answering.iterator().next() + " answers"),
                (changing ? "" : "look up pool_mode in its configuration: ")
                        + "in transaction mode everything works but notify(...): give that a data source that connects"
                        + " directly; prepared statements need max_prepared_statements of PgBouncer 1.21 or later, or"
                        + " prepareThreshold=0 in the url. Statement mode cannot be used"));
    }

    private List<Diagnosis> snapshots() throws SQLException {
        List<String> holders = ask(HOLDERS, rows -> {
            List<String> old = new ArrayList<>();
            while (rows.next()) {
                Duration age = Duration.ofMillis(rows.getLong("millis"));
                if (age.compareTo(limits.transaction()) > 0) {
                    old.add(rows.getString("holder") + " for " + age);
                }
            }
            return old;
        });
        List<Diagnosis> found = new ArrayList<>();
        if (!holders.isEmpty()) {
            found.add(
                    new Diagnosis(
                            "snapshots",
                            Severity.WARN,
                            "a transaction has been open for long",
                            String.join("; ", holders.subList(0, Math.min(5, holders.size()))),
                            "vacuum cannot remove what died since, and claims get slower all the time: end it"
                                    + " (pg_terminate_backend, ROLLBACK PREPARED), and set idle_in_transaction_session_timeout"));
        }
        hidden().ifPresent(found::add);
        return found.isEmpty()
                ? List.of(Diagnosis.ok(
                        "snapshots", "no transaction has been open for longer than " + limits.transaction()))
                : found;
    }

    /** What is not seen is not well. */
    private Optional<Diagnosis> hidden() throws SQLException {
        return ask(HIDDEN, rows -> {
            rows.next();
            long sessions = rows.getLong("sessions");
            return sessions == 0
                    ? Optional.empty()
                    : Optional.of(new Diagnosis(
                            "snapshots",
                            Severity.SKIPPED,
                            "this role may not see for how long other sessions have had a transaction",
                            sessions + " sessions hidden",
                            "GRANT pg_monitor TO \"" + rows.getString("role") + "\""));
        });
    }

    private List<Diagnosis> slots() throws SQLException {
        return ask(SLOTS, rows -> {
            List<String> idle = new ArrayList<>();
            List<String> holding = new ArrayList<>();
            while (rows.next()) {
                String slot = rows.getString("slot");
                long transactions = rows.getLong("transactions");
                if (!rows.getBoolean("active")) {
                    idle.add(slot + ", " + rows.getString("behind") + " of WAL behind");
                }
                if (transactions > limits.slotAge()) {
                    holding.add(slot + ", " + transactions + " transactions back");
                }
            }
            return slots(idle, holding);
        });
    }

    private static List<Diagnosis> slots(List<String> idle, List<String> holding) {
        List<Diagnosis> found = new ArrayList<>();
        if (!idle.isEmpty()) {
            found.add(new Diagnosis(
                    "replication slots",
                    Severity.WARN,
                    "a replication slot is not in use",
                    String.join("; ", idle),
                    "it keeps WAL until the disk is full: start its consumer, or pg_drop_replication_slot"));
        }
        if (!holding.isEmpty()) {
            found.add(new Diagnosis(
                    "replication slots",
                    Severity.WARN,
                    "a replication slot keeps vacuum from cleaning up",
                    String.join("; ", holding),
                    "its consumer is behind, or a standby with hot_standby_feedback runs a long query: end that, let the"
                            + " consumer catch up, or pg_drop_replication_slot"));
        }
        return found.isEmpty()
                ? List.of(Diagnosis.ok("replication slots", "every replication slot is in use, and none is far behind"))
                : found;
    }

    private List<Diagnosis> schema(AdminTable table) throws SQLException {
        if (table.kind() == TableKind.INBOX && table.phase() != Phase.CLEAN) {
            return List.of(onItsWay(table));
        }
        String name = table.name().toString();
        TableReport report = (table.kind() == TableKind.OUTBOX ? Upgrade.outbox(name) : Upgrade.inbox(name, "any"))
                .report(session.connection());
        List<Diagnosis> found = new ArrayList<>();
        if (table.phase() != Phase.CLEAN) {
            found.add(onItsWay(table));
        }
        report.problems()
                .forEach(problem -> found.add(new Diagnosis(
                        "schema",
                        Severity.FAIL,
                        problem.text(),
                        problem.concern().toString(),
                        table.phase() == Phase.CLEAN
                                ? "compare it with OutboxMigrations.render(...), and create what is missing; an index"
                                        + " with CREATE INDEX CONCURRENTLY"
                                : "repeat the phase")));
        return found.isEmpty() ? List.of(Diagnosis.ok("schema", "as installed, in " + table.phase())) : found;
    }

    private static Diagnosis onItsWay(AdminTable table) {
        return new Diagnosis(
                "schema",
                Severity.NOTE,
                "the table is on its way to the canonical layout",
                table.phase().toString(),
                "Upgrade.report(...) says what is in the way to the next phase");
    }

    /** @param last when it was last vacuumed by itself */
    private record Figures(boolean enabled, double scaleFactor, long dead, long live, String last, long bytes) {}

    /** Asked for once, for all checks. */
    private Figures figures(AdminTable table) throws SQLException {
        Figures found = known.get(table.kind());
        if (found == null) {
            found = ask(table);
            known.put(table.kind(), found);
        }
        return found;
    }

    private Figures ask(AdminTable table) throws SQLException {
        try (Query query = session.query(table, TABLE)) {
            query.set("table", table.layout().table());
            return AdminSession.one(
                    query,
                    row -> new Figures(
                            row.getBoolean("enabled"),
                            row.getObject("scale_factor") == null ? 1 : row.getDouble("scale_factor"),
                            row.getLong("dead"),
                            row.getLong("live"),
                            row.getString("last_autovacuum") == null ? "never" : row.getString("last_autovacuum"),
                            row.getLong("bytes")));
        }
    }

    private List<Diagnosis> autovacuum(AdminTable table) throws SQLException {
        boolean on = ask(SETTINGS, rows -> {
            rows.next();
            return rows.getString("autovacuum").equals("on");
        });
        Figures figures = figures(table);
        if (on && figures.enabled && figures.scaleFactor <= MOST_SCALE_FACTOR) {
            return List.of(Diagnosis.ok("autovacuum", "on, and early enough for a queue"));
        }
        return List.of(new Diagnosis(
                "autovacuum",
                Severity.WARN,
                "autovacuum will not keep up with a queue",
                !on
                        ? "autovacuum is off for the whole server"
                        : !figures.enabled
                                ? "autovacuum_enabled is off for the table"
                                : "autovacuum_vacuum_scale_factor is "
                                        + (figures.scaleFactor == 1 ? "the server's" : figures.scaleFactor),
                on
                        ? "ALTER TABLE " + table.layout().table() + " SET (autovacuum_enabled = on,"
                                + " autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000)"
                        : "ALTER SYSTEM SET autovacuum = on"));
    }

    private List<Diagnosis> deadTuples(AdminTable table) throws SQLException {
        Figures figures = figures(table);
        if (figures.dead <= Math.max(limits.deadTuples(), figures.live / 5)) {
            return List.of(Diagnosis.ok("dead tuples", "few row versions wait for vacuum"));
        }
        return List.of(new Diagnosis(
                "dead tuples",
                Severity.WARN,
                "many row versions wait for vacuum",
                figures.dead + " beside " + figures.live + " live rows; last vacuumed by itself: " + figures.last,
                "see snapshots and replication slots for who keeps them; then VACUUM "
                        + table.layout().table()));
    }

    private List<Diagnosis> size(AdminTable table) throws SQLException {
        Figures figures = figures(table);
        if (figures.bytes <= limits.tableBytes()) {
            return List.of(Diagnosis.ok("size", (figures.bytes >> 20) + " MiB with indexes"));
        }
        return List.of(new Diagnosis(
                "size",
                Severity.WARN,
                "the table is large",
                (figures.bytes >> 20) + " MiB with indexes, about " + figures.live + " rows",
                "shorten retention(...), or purge by hand; an outbox whose past nobody asks for can do with"
                        + " Ack.DELETE. Room is given back by VACUUM FULL or pg_repack only"));
    }
}
