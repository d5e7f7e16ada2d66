package dev.outbox.admin;

import dev.outbox.OutboxException;
import dev.outbox.Status;
import dev.outbox.admin.Diagnosis.Severity;
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
import java.util.stream.Collectors;

/**
 * Looks for what bites in production, and says what to do. Changes nothing, and reads no more than catalogs, statistics
 * and small indexes; of a table that is being migrated, all of it. What it may not see it says instead of failing.
 * Thread-safe.
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

    /** Everything that was looked at, the good and the bad. */
    public List<Diagnosis> examine(DoctorLimits limits) {
        Require.present("limits", limits);
        return database.run("examine the database", session -> {
            List<Diagnosis> all = new ArrayList<>();
            List<AdminTable> tables = session.tables();
            check(all, "clocks", () -> List.of(clocks(session, tables.get(0), limits)));
            check(all, "network", () -> List.of(network(session)));
            AdminDialect.Examiner examiner = session.dialect().examiner(session, limits);
            examiner.database().forEach((name, examination) -> check(all, name, examination));
            for (AdminTable table : tables) {
                examiner.table(table)
                        .forEach((name, examination) -> check(all, table.kind() + " " + name, examination));
                if (!table.phase().before(Phase.FLIPPED)) {
                    StatusTable status = new StatusTable(session, table);
                    check(all, table.kind() + " leases", () -> List.of(stuck(status, limits)));
                    check(all, table.kind() + " keys", () -> List.of(keys(status)));
                    check(all, table.kind() + " retention", () -> List.of(retention(status, limits)));
                    check(all, table.kind() + " pollers", () -> pollers(table, status, limits));
                }
            }
            return all;
        });
    }

    /** One check. */
    interface Examination {
        List<Diagnosis> run() throws SQLException;
    }

    /** A check that may not look, or fails, keeps no other from looking. */
    private static void check(List<Diagnosis> all, String name, Examination examination) {
        try {
            for (Diagnosis found : examination.run()) {
                all.add(new Diagnosis(name, found.severity(), found.what(), found.evidence(), found.advice()));
            }
        } catch (SQLException e) {
            all.add(Diagnosis.skipped(
                    name,
                    String.valueOf(SqlFailure.of("could not be looked at", e).getMessage())));
        } catch (OutboxException e) {
            all.add(new Diagnosis(name, Severity.FAIL, String.valueOf(e.getMessage()), "", ""));
        }
    }

    private Diagnosis clocks(AdminSession session, AdminTable table, DoctorLimits limits) throws SQLException {
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
        if (least.compareTo(limits.clockSkew()) <= 0) {
            return Diagnosis.ok("clocks", "the clocks of this JVM and the database agree");
        }
        return new Diagnosis(
                "clocks",
                Severity.WARN,
                "the clocks of this JVM and the database are apart",
                "by at least " + least,
                "leases go by the database's clock and are safe, but due times that the application gives and the times"
                        + " people compare are not; let both follow the same time server");
    }

    /** What pollers do themselves they bound themselves; the connections of callers and handlers they do not. */
    private static Diagnosis network(AdminSession session) throws SQLException {
        int millis = session.connection().getNetworkTimeout();
        if (millis > 0) {
            return Diagnosis.ok(
                    "network", "a connection without an answer is given up after " + Duration.ofMillis(millis));
        }
        return new Diagnosis(
                "network",
                Severity.NOTE,
                "callers and handlers wait for a silent network for as long as the operating system does",
                "connections of this data source have no network timeout",
                "set socketTimeout, longer than the longest statement, in the url of the application; with PostgreSQL also"
                        + " tcpKeepAlive=true and connectTimeout, with SQL Server loginTimeout");
    }

    private static Diagnosis stuck(StatusTable status, DoctorLimits limits) throws SQLException {
        StatusTable.Stuck stuck = status.stuck(limits.stuck());
        if (stuck.items() == 0) {
            return Diagnosis.ok("leases", "no lease is stuck");
        }
        return new Diagnosis(
                "leases",
                Severity.WARN,
                stuck.items() + " items have a lease that ended and nobody took them back",
                "the oldest ended " + stuck.oldest() + " ago",
                "pollers look for ended leases by themselves: see that one runs for these topics");
    }

    private static Diagnosis keys(StatusTable status) throws SQLException {
        List<BlockedKey> blocked = status.blocked();
        if (blocked.isEmpty()) {
            return Diagnosis.ok("keys", "no key is held back");
        }
        boolean dead = blocked.stream().anyMatch(key -> key.status() == Status.DEAD);
        String evidence = blocked.stream()
                .limit(5)
                .map(key -> key.key() + " (" + key.waiting() + " wait behind " + key.head() + ", "
                        + (key.status() == Status.DEAD
                                ? "Dead"
                                : "failing, attempt " + key.attempts() + ", again at " + key.dueOn())
                        + ")")
                .collect(Collectors.joining(", "));
        return new Diagnosis(
                "keys",
                Severity.WARN,
                blocked.size() + (blocked.size() == 1 ? " key is" : " keys are") + " held back by "
                        + (dead ? "a Dead or failing item" : "a failing item"),
                evidence,
                dead
                        ? "requeue or discard the Dead item, then its key goes on"
                        : "look at the error of the item; it is tried again by itself");
    }

    /** What no poller handles, in a table that has pollers. */
    private static List<Diagnosis> unhandled(StatusTable status, DoctorLimits limits) throws SQLException {
        List<Diagnosis> found = new ArrayList<>();
        for (StatusTable.Unhandled topic : status.unhandled(limits.silence())) {
            found.add(new Diagnosis(
                    "pollers",
                    Severity.WARN,
                    "items of topic " + topic.topic() + " are due, and no poller delivers them",
                    topic.items() + " items, the oldest for " + topic.oldest()
                            + (topic.lastError() == null ? "" : "; last error: " + topic.lastError()),
                    "see that a poller claims the topic: its topics(...), routes or handlers say which topics it claims; if the"
                            + " type is unknown, start a version that knows it"));
        }
        return found;
    }

    /** How long pollers keep what is Done they tell nobody; what is there tells whether they remove it. */
    private static Diagnosis retention(StatusTable status, DoctorLimits limits) throws SQLException {
        Duration oldest = status.oldestDone().orElse(Duration.ZERO);
        long done = status.doneAbout();
        if (oldest.compareTo(limits.retention()) <= 0 || done <= limits.doneRows()) {
            return Diagnosis.ok("retention", "what is Done does not pile up");
        }
        return new Diagnosis(
                "retention",
                Severity.WARN,
                "what is Done is not removed",
                "about " + done + " items, the oldest Done for " + oldest.toDays() + " days",
                "give the outbox or inbox of a poller retention(...), and see that its purge does not fail: its log says so."
                        + " Remove what is there with Admin.purge(...)");
    }

    private static List<Diagnosis> pollers(AdminTable table, StatusTable status, DoctorLimits limits)
            throws SQLException {
        if (!table.listed()) {
            return List.of(new Diagnosis(
                    "pollers",
                    Severity.SKIPPED,
                    "the pollers are not known",
                    "there is no table " + table.name().schema() + "." + AdminTable.POLLERS
                            + ", or an older one without its last error",
                    "create it with OutboxMigrations.installAdmin(...)"));
        }
        Duration due = status.oldestDue().orElse(Duration.ZERO);
        boolean late = due.compareTo(limits.silence()) > 0;
        Instant now = status.now();
        List<KnownPoller> known = status.pollers();
        List<Diagnosis> found = new ArrayList<>();
        boolean alive = known.stream().anyMatch(poller -> !isLonger(poller.silentFor(), limits));
        if (!alive && late) {
            found.add(new Diagnosis(
                    "pollers",
                    Severity.WARN,
                    "nobody polls, and items are due",
                    "the oldest for " + due + "; pollers known: " + known.size(),
                    "start a poller of this table; one that is older than the table of the pollers tells of itself after ten"
                            + " minutes"));
        }
        if (alive) {
            found.addAll(unhandled(status, limits));
        }
        for (KnownPoller poller : known) {
            found.addAll(troubles(poller, table, limits, alive));
            if (poller.hasRecentError(now)) {
                found.add(new Diagnosis(
                        "pollers",
                        Severity.WARN,
                        "poller " + poller.name() + " of " + table.name() + " survived an error",
                        "at " + poller.lastErrorOn() + ": " + poller.lastError(),
                        "its log has the stack trace; after an OutOfMemoryError give the process more memory, or the poller"
                                + " smaller batches, and restart it: other threads may not have survived"));
            }
            Duration unsuccessful =
                    Duration.between(poller.lastSuccess() == null ? poller.startedOn() : poller.lastSuccess(), now);
            if (late && !isLonger(poller.silentFor(), limits) && isLonger(unsuccessful, limits)) {
                found.add(new Diagnosis(
                        "pollers",
                        Severity.WARN,
                        "poller " + poller.name() + " is alive, but does not claim what is due",
                        "its last claim succeeded " + unsuccessful + " ago; the oldest item has been due for " + due,
                        "its log says why claims fail; a poller whose handlers all hang claims nothing either"));
            }
        }
        return found.isEmpty() ? List.of(Diagnosis.ok("pollers", known.size() + " known, none silent")) : found;
    }

    private static boolean isLonger(Duration time, DoctorLimits limits) {
        return time.compareTo(limits.silence()) > 0;
    }

    private static List<Diagnosis> troubles(KnownPoller poller, AdminTable table, DoctorLimits limits, boolean alive) {
        List<Diagnosis> found = new ArrayList<>();
        if (isLonger(poller.silentFor(), limits)) {
            found.add(new Diagnosis(
                    "pollers",
                    alive ? Severity.NOTE : Severity.WARN,
                    "poller " + poller.name() + " is silent",
                    "for " + poller.silentFor() + ", version " + poller.version(),
                    "if it was stopped for good, delete its row in " + AdminTable.POLLERS
                            + ", or wait a day; otherwise look at its log"));
        }
        if (poller.longestDelivery().compareTo(poller.lease()) > 0) {
            found.add(new Diagnosis(
                    "pollers",
                    Severity.WARN,
                    "deliveries of poller " + poller.name() + " take longer than its lease",
                    "up to " + poller.longestDelivery() + ", the lease is " + poller.lease(),
                    "set lease(...) above the usual delivery time, or make deliveries shorter: a node that stalls"
                            + " while it depends on renewals lets others repeat them"));
        }
        if (poller.phase().compareTo(table.phase().mark()) < 0) {
            found.add(new Diagnosis(
                    "pollers",
                    Severity.WARN,
                    "poller " + poller.name() + " reads an older layout",
                    "phase " + poller.phase() + ", the table is in " + table.phase(),
                    "wait for its next heartbeat, or restart it"));
        }
        return found;
    }
}
