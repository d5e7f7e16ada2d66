package dev.outbox.admin;

import dev.outbox.OutboxException;
import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.admin.internal.CheckLimits;
import dev.outbox.admin.internal.Checks;
import dev.outbox.admin.internal.Checks.Check;
import dev.outbox.admin.internal.Findings;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Timestamps;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Looks for known causes of trouble in production, and says what to do. The doctor changes nothing. It reads catalogs,
 * statistics and small indexes; only a table that is being migrated is read completely. If the login may not see
 * something, the check is reported as skipped, and the examination goes on. Thread-safe.
 */
public final class Doctor {
    private final AdminDatabase database;
    private final Clock clock;

    Doctor(AdminDatabase database, Clock clock) {
        this.database = database;
        this.clock = clock;
    }

    /** {@link #examine(DoctorLimits)} with {@link DoctorLimits#standard()}. */
    public List<Diagnosis> examine() {
        return examine(DoctorLimits.standard());
    }

    /** Everything that was checked, good and bad. */
    public List<Diagnosis> examine(DoctorLimits limits) {
        Require.present("limits", limits);
        return database.run("examine the database", (session, tables) -> {
            List<Diagnosis> all = new ArrayList<>();
            List<AdminTable> found = tables.all();
            check(all, "clocks", findings -> clocks(session, found.get(0), limits, findings));
            check(all, "network", findings -> network(session, findings));
            Checks checks = session.dialect()
                    .checks(
                            session,
                            new CheckLimits(
                                    limits.transaction(), limits.deadTuples(), limits.tableBytes(), limits.slotAge()));
            checks.database().forEach((name, check) -> check(all, name, check));
            for (AdminTable table : found) {
                checks.table(table).forEach((name, check) -> check(all, table.kind() + " " + name, check));
                if (!table.phase().before(Phase.FLIPPED)) {
                    StatusTable status = new StatusTable(session, table);
                    ItemChecks items = new ItemChecks(status, limits);
                    check(all, table.kind() + " leases", items::leases);
                    check(all, table.kind() + " keys", items::keys);
                    check(all, table.kind() + " retention", items::retention);
                    check(all, table.kind() + " pollers", new PollerChecks(table, status, limits)::pollers);
                }
            }
            return all;
        });
    }

    /** A check that fails, or may not look, does not prevent the others. */
    private static void check(List<Diagnosis> all, String name, Check check) {
        Diagnoses found = new Diagnoses(name);
        try {
            check.run(found);
        } catch (SQLException e) {
            found.skipped(
                    String.valueOf(SqlFailure.of("could not be checked", e).getMessage()), "", "");
        } catch (OutboxException e) {
            found.fail(String.valueOf(e.getMessage()), "", "");
        }
        all.addAll(found.all());
    }

    private void clocks(AdminSession session, AdminTable table, DoctorLimits limits, Findings findings)
            throws SQLException {
        Duration skew = Duration.ofDays(36_500);
        try (Query query = session.query(table, session.dialect().status().now())) {
            for (int i = 0; i < 3; i++) { // the shortest round trip tells best
                Instant before = clock.instant();
                Instant there = AdminSession.one(query, row -> Timestamps.read(row, "now"));
                Instant after = clock.instant();
                Duration early = Duration.between(there, before);
                Duration late = Duration.between(after, there);
                Duration apart = early.compareTo(late) > 0 ? early : late;
                skew = apart.compareTo(skew) < 0 ? apart : skew;
            }
        }
        Duration least = skew.isNegative() ? Duration.ZERO : skew;
        if (least.compareTo(limits.clockSkew()) > 0) {
            findings.warn(
                    "the clocks of this JVM and the database differ",
                    "by at least " + least,
                    "leases use the database's clock and are safe, but due times that the application sets and times that"
                            + " people compare are not; synchronise both with the same time server");
        }
        findings.okIfNothingFound("the clocks of this JVM and the database agree");
    }

    /** Pollers limit their own waits; the connections of callers and handlers have no limit but this one. */
    private static void network(AdminSession session, Findings findings) throws SQLException {
        int millis = session.connection().getNetworkTimeout();
        if (millis <= 0) {
            findings.note(
                    "callers and handlers wait for a silent network for as long as the operating system does",
                    "connections of this data source have no network timeout",
                    "set socketTimeout, longer than the longest statement, in the url of the application; with PostgreSQL also"
                            + " tcpKeepAlive=true and connectTimeout, with SQL Server loginTimeout");
        }
        findings.okIfNothingFound("a connection without an answer is given up after " + Duration.ofMillis(millis));
    }
}
