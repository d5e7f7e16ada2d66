package dev.outbox.evolution.sqlserver;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.spi.Source;
import dev.outbox.sqlserver.SqlServerDatabase;
import dev.outbox.sqlserver.SqlServerInboxFixture;
import dev.outbox.sqlserver.SqlServerOutbox;
import dev.outbox.testkit.Feature;
import dev.outbox.testkit.ItemState;
import dev.outbox.testkit.SourceFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** A legacy outbox that has come as far as some phase, emptied for each test. Time passes as in {@link SqlServerFixture}. */
final class SqlServerPhasedFixture implements SourceFixture {
    private static final Map<Phase, String> TABLES = new EnumMap<>(Phase.class);

    private final AtomicLong ticker = new AtomicLong();
    private final SqlServerDatabase database;
    private final Phase phase;
    private final String table;
    private final Outbox outbox;

    SqlServerPhasedFixture(SqlServerDatabase database, Phase phase) {
        this.database = database;
        this.phase = phase;
        this.table = table(database, phase);
        database.execute("DELETE FROM " + table);
        this.outbox = SqlServerOutbox.builder(database.pool())
                .table(table)
                .ticker(ticker::get)
                .build();
    }

    private static synchronized String table(SqlServerDatabase database, Phase phase) {
        return TABLES.computeIfAbsent(phase, to -> {
            String name = "p" + to.number();
            new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, name);
            Upgrade upgrade =
                    Upgrade.outbox(name).refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
            for (Phase next : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.CLEAN)) {
                if (next.compareTo(to) <= 0) {
                    upgrade.apply(ForgivingDataSource.over(database), next);
                }
            }
            return name;
        });
    }

    /** In phases 1 to 3 both names can be read, and one of them written. */
    private String column(String old, String now) {
        return phase.before(Phase.FLIPPED) ? old : now;
    }

    private String id() {
        return column("Id", "WorkItemId");
    }

    @Override
    public Source newSource() {
        return outbox.source();
    }

    @Override
    public List<String> enqueue(List<Message> messages) {
        List<String> messageIds = database.commit(outbox, messages);
        return phase.before(Phase.DUAL)
                ? messageIds
                : database.query("SELECT id FROM (SELECT TOP (" + messages.size() + ") LOWER(CAST(" + id()
                        + " AS nvarchar(36))) AS id, Sequence FROM " + table
                        + " ORDER BY Sequence DESC) last ORDER BY last.Sequence");
    }

    @Override
    public Optional<ItemState> find(String itemId) {
        return database
                .query(
                        "SELECT CONCAT(Status, N',', " + column("RetryCount", "AttemptCount")
                                + ", N',', LastError) FROM " + table + " WHERE " + id()
                                + " = CAST(? AS uniqueidentifier)",
                        itemId)
                .stream()
                .findFirst()
                .map(row -> {
                    String[] parts = row.split(",", 3);
                    return new ItemState(
                            itemId,
                            Status.ofCode(Integer.parseInt(parts[0])),
                            Integer.parseInt(parts[1]),
                            parts[2].isEmpty() ? null : parts[2]);
                });
    }

    @Override
    public void advance(Duration step) {
        ticker.addAndGet(step.toNanos());
        List<String> times = new ArrayList<>(
                List.of("LockedUntil", column("DueTimeUtc", "DueOn"), column("CreatedAt", "CreatedOn")));
        if (phase != Phase.LEGACY) {
            times.add("FirstDueOn");
        }
        SqlServerInboxFixture.age(database, table, times, step);
    }

    @Override
    public void requeue(String itemId) {
        database.execute(
                "UPDATE " + table + " SET Status = 0, " + column("RetryCount", "AttemptCount") + " = 0, "
                        + column("ProcessedAt", "ProcessedOn") + " = NULL, " + column("DueTimeUtc", "DueOn")
                        + " = SYSUTCDATETIME()" + (phase == Phase.LEGACY ? "" : ", FirstDueOn = NULL") + " WHERE "
                        + id() + " = CAST(? AS uniqueidentifier)",
                itemId);
    }

    @Override
    public Set<Feature> lacks() {
        Set<Feature> lacks = EnumSet.noneOf(Feature.class);
        if (phase == Phase.LEGACY) {
            lacks.addAll(Set.of(Feature.SEQUENCES, Feature.FIRST_DUE_TIMES));
        }
        if (phase.before(Phase.DUAL)) {
            lacks.addAll(Set.of(Feature.HEADERS, Feature.CONTENT_TYPES, Feature.TENANTS, Feature.PRIORITIES));
        }
        if (phase.before(Phase.FLIPPED)) {
            lacks.addAll(Set.of(Feature.KEYS, Feature.BINARY_PAYLOADS));
        }
        if (phase.before(Phase.CLEAN)) {
            lacks.add(Feature.ANY_MESSAGE_ID);
        }
        if (database.isBabelfish()) { // which cannot make a column allow nulls
            lacks.add(Feature.BINARY_PAYLOADS);
        }
        return lacks;
    }

    @Override
    public void close() {
        // The table is emptied by the next one.
    }
}
