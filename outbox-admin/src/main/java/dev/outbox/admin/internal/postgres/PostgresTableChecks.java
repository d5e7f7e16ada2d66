package dev.outbox.admin.internal.postgres;

import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.admin.internal.CheckLimits;
import dev.outbox.admin.internal.Findings;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.migrations.TableReport;
import dev.outbox.migrations.Upgrade;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** What the doctor checks about a table of PostgreSQL. */
final class PostgresTableChecks {
    static final String AUTOVACUUM = "SELECT current_setting('autovacuum') AS autovacuum";

    static final String TABLE = """
            SELECT COALESCE((SELECT option_value FROM pg_options_to_table(c.reloptions)
                    WHERE option_name = 'autovacuum_enabled'), 'true') AS enabled,
                (SELECT option_value FROM pg_options_to_table(c.reloptions)
                    WHERE option_name = 'autovacuum_vacuum_scale_factor')::double precision AS scale_factor,
                COALESCE(s.n_dead_tup, 0) AS dead, COALESCE(s.n_live_tup, 0) AS live, s.last_autovacuum,
                pg_total_relation_size(c.oid) AS bytes
            FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_stat_user_tables s ON s.relid = c.oid
            WHERE c.oid = to_regclass(:table)
            """;

    private static final String LAGGING = "autovacuum will not keep up with a queue";

    private static final double MOST_SCALE_FACTOR = 0.05;

    private final AdminSession session;
    private final CheckLimits limits;
    private final AdminTable table;

    /** Asked for once, for all checks. */
    private @Nullable Figures known;

    PostgresTableChecks(AdminSession session, CheckLimits limits, AdminTable table) {
        this.session = session;
        this.limits = limits;
        this.table = table;
    }

    void schema(Findings findings) throws SQLException {
        if (table.phase() != Phase.CLEAN) {
            findings.note(
                    "the table is being migrated to the canonical layout",
                    table.phase().toString(),
                    "Upgrade.report(...) shows what prevents the next phase");
            if (table.kind() == TableKind.INBOX) {
                return;
            }
        }
        String name = table.name().toString();
        TableReport report = (table.kind() == TableKind.OUTBOX ? Upgrade.outbox(name) : Upgrade.inbox(name, "any"))
                .report(session.connection());
        report.problems()
                .forEach(problem -> findings.fail(
                        problem.text(),
                        problem.concern().toString(),
                        table.phase() == Phase.CLEAN
                                ? "compare it with OutboxMigrations.render(...), and create what is missing; an index"
                                        + " with CREATE INDEX CONCURRENTLY"
                                : "repeat the phase"));
        findings.okIfNothingFound("as installed, in " + table.phase());
    }

    /** @param last when it was last vacuumed by itself */
    private record Figures(boolean enabled, double scaleFactor, long dead, long live, String last, long bytes) {}

    private Figures figures() throws SQLException {
        if (known == null) {
            known = read();
        }
        return known;
    }

    private Figures read() throws SQLException {
        try (Query query = session.query(table, TABLE)) {
            return AdminSession.one(
                    query.set("table", table.quoted()),
                    row -> new Figures(
                            row.getBoolean("enabled"),
                            row.getObject("scale_factor") == null ? 1 : row.getDouble("scale_factor"),
                            row.getLong("dead"),
                            row.getLong("live"),
                            row.getString("last_autovacuum") == null ? "never" : row.getString("last_autovacuum"),
                            row.getLong("bytes")));
        }
    }

    void autovacuum(Findings findings) throws SQLException {
        Figures figures = figures();
        if (!session.one(AUTOVACUUM, row -> row.getString("autovacuum")).equals("on")) {
            findings.warn(LAGGING, "autovacuum is off for the whole server", "ALTER SYSTEM SET autovacuum = on");
        } else if (!figures.enabled) {
            findings.warn(LAGGING, "autovacuum_enabled is off for the table", vacuumSoon());
        } else if (figures.scaleFactor > MOST_SCALE_FACTOR) {
            findings.warn(
                    LAGGING,
                    "autovacuum_vacuum_scale_factor is "
                            + (figures.scaleFactor == 1 ? "the server's" : figures.scaleFactor),
                    vacuumSoon());
        }
        findings.okIfNothingFound("on, and early enough for a queue");
    }

    private String vacuumSoon() {
        return "ALTER TABLE " + table.quoted() + " SET (autovacuum_enabled = on,"
                + " autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000)";
    }

    void deadTuples(Findings findings) throws SQLException {
        Figures figures = figures();
        if (figures.dead > Math.max(limits.deadTuples(), figures.live / 5)) {
            findings.warn(
                    "many row versions wait for vacuum",
                    figures.dead + " beside " + figures.live + " live rows; last autovacuum: " + figures.last,
                    "the checks of snapshots and replication slots show what keeps them; then VACUUM "
                            + table.quoted());
        }
        findings.okIfNothingFound("few row versions wait for vacuum");
    }

    void size(Findings findings) throws SQLException {
        Figures figures = figures();
        if (figures.bytes > limits.tableBytes()) {
            findings.warn(
                    "the table is large",
                    (figures.bytes >> 20) + " MiB with indexes, about " + figures.live + " rows",
                    "shorten retention(...), or purge by hand; an outbox whose delivered messages are not needed can use"
                            + " Ack.DELETE. Only VACUUM FULL or pg_repack give the room back");
        }
        findings.okIfNothingFound((figures.bytes >> 20) + " MiB with indexes");
    }
}
