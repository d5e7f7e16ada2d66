package dev.outbox.evolution.sqlserver;

import dev.outbox.Inbox;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.sqlserver.SqlServerDatabase;
import dev.outbox.sqlserver.SqlServerInbox;
import dev.outbox.sqlserver.SqlServerInboxFixture;
import dev.outbox.testkit.Feature;
import dev.outbox.testkit.InboxCrash;
import dev.outbox.testkit.InboxFixture;
import dev.outbox.testkit.InboxScenario;
import dev.outbox.testkit.InboxSettings;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.opentest4j.TestAbortedException;

/** A legacy inbox that has come as far as some phase, emptied for each test. */
final class SqlServerPhasedInboxFixture implements InboxFixture {
    private static final Map<Phase, String> TABLES = new EnumMap<>(Phase.class);

    private final AtomicLong ticker = new AtomicLong();
    private final SqlServerInboxFixture canonical;
    private final SqlServerDatabase database;
    private final Phase phase;
    private final String table;

    SqlServerPhasedInboxFixture(SqlServerDatabase database, Phase phase) {
        this.canonical = new SqlServerInboxFixture(database);
        this.database = database;
        this.phase = phase;
        this.table = table(database, phase);
        database.execute("DELETE FROM " + table);
    }

    private static synchronized String table(SqlServerDatabase database, Phase phase) {
        return TABLES.computeIfAbsent(phase, to -> {
            String name = "q" + to.number();
            new LegacyInbox(database, LegacyOutbox.Spelling.PASCAL, name);
            Upgrade upgrade = Upgrade.inbox(name, InboxScenario.CONSUMER)
                    .refreshInterval(Duration.ZERO)
                    .quietFor(Duration.ZERO);
            for (Phase next : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.CLEAN)) {
                if (next.compareTo(to) <= 0) {
                    upgrade.apply(ForgivingDataSource.over(database), next);
                }
            }
            return name;
        });
    }

    @Override
    public Inbox open(InboxSettings settings) {
        return SqlServerInbox.builder(database.pool())
                .table(table)
                .consumer(settings.consumer())
                .onConflict(settings.onConflict())
                .lockTimeout(settings.lockTimeout())
                .listener(settings.listener())
                .ticker(ticker::get)
                .build();
    }

    @Override
    public DataSource dataSource() {
        return database.pool();
    }

    @Override
    public String effectsTable() {
        return canonical.effectsTable();
    }

    @Override
    public void advance(Duration step) {
        ticker.addAndGet(step.toNanos());
        boolean old = phase.before(Phase.FLIPPED);
        SqlServerInboxFixture.age(
                database,
                table,
                old
                        ? List.of("LockedUntil", "DueTimeUtc", "ProcessedUtc", "FirstSeenUtc", "LastSeenUtc")
                        : List.of("LockedUntil", "DueOn", "ProcessedOn", "FirstSeenOn", "LastSeenOn"),
                step);
    }

    @Override
    public void awaitBlocked(int sessions) {
        canonical.awaitBlocked(sessions);
    }

    @Override
    public int rivalMessages() {
        return 50;
    }

    @Override
    public int crash(InboxCrash at, String consumer, String messageId) {
        throw new TestAbortedException("crashes are tested on the canonical table");
    }

    @Override
    public Set<Feature> lacks() {
        Set<Feature> lacks = EnumSet.noneOf(Feature.class);
        if (phase == Phase.LEGACY) {
            lacks.addAll(Set.of(Feature.SEQUENCES, Feature.FIRST_DUE_TIMES, Feature.RECEIPT_COUNTS));
        }
        if (phase.before(Phase.DUAL)) {
            lacks.addAll(Set.of(Feature.HEADERS, Feature.CONTENT_TYPES, Feature.TENANTS, Feature.CORRELATION_IDS));
        }
        if (phase.before(Phase.FLIPPED)) {
            lacks.addAll(Set.of(Feature.KEYS, Feature.BINARY_PAYLOADS, Feature.PRIORITIES));
        }
        if (phase != Phase.CLEAN) {
            lacks.add(Feature.MANY_SOURCES);
        }
        return lacks;
    }

    @Override
    public void close() {
        // The table is emptied by the next one.
    }
}
