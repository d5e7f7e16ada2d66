package dev.outbox.admin;

import dev.outbox.Status;
import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.admin.internal.StatusStatements;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads how one table is doing. */
final class StatusTable {
    private static final int MOST_KEYS = 100;
    private static final int SAMPLE = 10_000;
    private static final Duration RECENTLY = Duration.ofMinutes(5);

    private final AdminSession session;
    private final AdminTable table;
    private final StatusStatements sql;

    StatusTable(AdminSession session, AdminTable table) {
        this.session = session;
        this.table = table;
        this.sql = session.dialect().status();
    }

    /** @param exactly whether Done items are counted, which reads all of them */
    TableStatus status(boolean exactly) throws SQLException {
        if (table.phase().before(Phase.FLIPPED)) {
            return new TableStatus(
                    table.kind(),
                    table.name().toString(),
                    table.phase().number(),
                    List.of(),
                    0,
                    true,
                    List.of(),
                    Optional.empty(),
                    pollers());
        }
        List<TopicCount> counts = new ArrayList<>(counts(sql.open()));
        long open = counts.stream().mapToLong(TopicCount::items).sum();
        Done done = exactly ? count(counts) : about(open);
        return new TableStatus(
                table.kind(),
                table.name().toString(),
                table.phase().number(),
                counts,
                done.items,
                done.about,
                blocked(),
                throughput(),
                pollers());
    }

    private record Done(long items, boolean about) {}

    private Done count(List<TopicCount> counts) throws SQLException {
        List<TopicCount> done = counts(sql.done());
        counts.addAll(done);
        return new Done(done.stream().mapToLong(TopicCount::items).sum(), false);
    }

    private Done about(long open) throws SQLException {
        try (Query query = session.query(table, sql.doneAbout())) {
            query.set("most", LookupTable.SMALL).set("table", session.text(table.quoted()));
            return AdminSession.one(query, row -> {
                long counted = row.getLong("counted");
                return counted < LookupTable.SMALL
                        ? new Done(counted, false)
                        : new Done(Math.max(counted, row.getLong("estimated") - open), true);
            });
        }
    }

    /** How many items are Done, counted or estimated. */
    long doneAbout() throws SQLException {
        Backlog open = backlog(Backlog.MOST);
        return about(open.ready() + open.processing() + open.dead()).items;
    }

    private List<TopicCount> counts(String statement) throws SQLException {
        try (Query query = session.query(table, statement)) {
            return AdminSession.list(
                    query,
                    row -> new TopicCount(
                            row.getString("topic"),
                            Status.ofCode(row.getInt("status")),
                            row.getLong("items"),
                            row.getLong("due"),
                            micros(row, "oldest")));
        }
    }

    private Optional<Throughput> throughput() throws SQLException {
        try (Query query = session.query(table, sql.recent())) {
            List<Optional<Throughput>> found = AdminSession.list(query.set("most", SAMPLE), row -> {
                long items = row.getLong("items");
                Duration span = micros(row, "span");
                if (items == 0 || span == null) {
                    return Optional.empty();
                }
                long recent = row.getLong("recent");
                Duration over = recent < SAMPLE || span.compareTo(RECENTLY) > 0 ? RECENTLY : span;
                return Optional.of(new Throughput(
                        items,
                        recent / Math.max(0.001, over.toMillis() / 1000.0),
                        micros(row, "p50"),
                        micros(row, "p95"),
                        micros(row, "p99")));
            });
            return found.stream().findFirst().flatMap(throughput -> throughput);
        }
    }

    List<BlockedKey> blocked() throws SQLException {
        try (Query query = session.query(table, sql.blocked())) {
            return AdminSession.list(
                    query.set("most", MOST_KEYS).set("sample", SAMPLE),
                    row -> new BlockedKey(
                            row.getString("message_key"),
                            row.getString("consumer"),
                            new ItemRef(table.kind(), row.getString("id").toLowerCase(Locale.ROOT)),
                            Status.ofCode(row.getInt("status")),
                            row.getInt("attempt_count"),
                            Timestamps.readOptional(row, "due_on"),
                            row.getLong("waiting"),
                            row.getString("last_error")));
        }
    }

    /** How many Dead items hold back their keys, counted up to 100. */
    long blockingDead() throws SQLException {
        try (Query query = session.query(table, sql.blockingDead())) {
            return AdminSession.one(query.set("most", MOST_KEYS), row -> row.getLong("items"));
        }
    }

    /** @param most the limit of each count */
    Backlog backlog(int most) throws SQLException {
        if (table.phase().before(Phase.FLIPPED)) {
            return new Backlog(0, 0, 0, Optional.empty());
        }
        Optional<Duration> oldestDue = oldestDue();
        try (Query query = session.query(table, sql.backlog())) {
            return AdminSession.one(
                    query.set("most", most),
                    row -> new Backlog(
                            row.getLong("ready"), row.getLong("processing"), row.getLong("dead"), oldestDue));
        }
    }

    Optional<Duration> oldestDue() throws SQLException {
        try (Query query = session.query(table, sql.oldestDue())) {
            return AdminSession.one(query.set("most", SAMPLE), row -> Optional.ofNullable(micros(row, "oldest")));
        }
    }

    /** How long ago the first of the Done items that are still there became Done. */
    Optional<Duration> oldestDone() throws SQLException {
        try (Query query = session.query(table, sql.oldestDone())) {
            return AdminSession.one(query, row -> Optional.ofNullable(micros(row, "oldest")));
        }
    }

    Instant now() throws SQLException {
        try (Query query = session.query(table, sql.now())) {
            return AdminSession.one(query, row -> Timestamps.read(row, "now"));
        }
    }

    /** @param oldest how long ago the first of these leases ended; null if none has an end */
    record Stuck(long items, @Nullable Duration oldest) {}

    Stuck stuck(Duration since) throws SQLException {
        try (Query query = session.query(table, sql.stuck())) {
            query.set("stuck", since).set("most", SAMPLE);
            return AdminSession.one(query, row -> new Stuck(row.getLong("items"), micros(row, "oldest")));
        }
    }

    /** Items of one topic that no poller delivers. */
    record Unhandled(
            String topic,
            long items,
            @Nullable Duration oldest,
            @Nullable String lastError) {}

    List<Unhandled> unhandled(Duration late) throws SQLException {
        try (Query query = session.query(table, sql.unhandled())) {
            query.set("late", late).set("most", SAMPLE);
            return AdminSession.list(
                    query,
                    row -> new Unhandled(
                            row.getString("topic"),
                            row.getLong("items"),
                            micros(row, "oldest"),
                            row.getString("last_error")));
        }
    }

    List<KnownPoller> pollers() throws SQLException {
        if (!table.listed()) {
            return List.of();
        }
        try (Query query = session.query(table, sql.pollers())) {
            query.set("table_name", session.text(table.name().toString()));
            return AdminSession.list(
                    query,
                    row -> new KnownPoller(
                            row.getString("poller"),
                            row.getString("version"),
                            row.getString("phase"),
                            Timestamps.read(row, "started_on"),
                            notNegative(micros(row, "silent")),
                            Timestamps.readOptional(row, "last_success_on"),
                            Duration.ofMillis(row.getLong("lease_ms")),
                            Duration.ofMillis(row.getLong("longest_delivery_ms")),
                            Timestamps.readOptional(row, "last_error_on"),
                            row.getString("last_error")));
        }
    }

    private static Duration notNegative(@Nullable Duration length) {
        return length == null || length.isNegative() ? Duration.ZERO : length;
    }

    private static @Nullable Duration micros(ResultSet row, String column) throws SQLException {
        long micros = row.getLong(column);
        return row.wasNull() ? null : Duration.ofNanos(micros * 1_000);
    }
}
