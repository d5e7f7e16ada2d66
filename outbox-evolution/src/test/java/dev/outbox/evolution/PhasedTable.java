package dev.outbox.evolution;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.Feature;
import dev.outbox.testkit.TestSql;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A table of each kind that has come as far as some phase, for many tests one after the other. */
final class PhasedTable {
    static final String CONSUMER = "billing";

    private final EmbeddedDatabase database = EmbeddedDatabase.create();
    private final HikariDataSource pool = database.pool(24);
    private final TestSql sql = TestSql.on(pool);
    private final Phase phase;
    private final Spelling spelling;

    private static final Map<Phase, PhasedTable> TABLES = new EnumMap<>(Phase.class);

    /** Of the spelling that profile full may choose by {@code -Doutbox.spelling}. */
    static synchronized PhasedTable of(Phase phase) {
        return TABLES.computeIfAbsent(
                phase, p -> new PhasedTable(p, Spelling.valueOf(System.getProperty("outbox.spelling", "PASCAL"))));
    }

    private PhasedTable(Phase phase, Spelling spelling) {
        this.phase = phase;
        this.spelling = spelling;
        execute(LegacyTables.outbox(spelling, "outbox"));
        execute(LegacyTables.inbox(spelling, "inbox"));
        upgrade(Upgrade.outbox("outbox"));
        upgrade(Upgrade.inbox("inbox", CONSUMER));
    }

    private void upgrade(Upgrade upgrade) {
        Upgrade hasty = upgrade.refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
        for (Phase next : Phase.values()) {
            if (next != Phase.LEGACY && next.compareTo(phase) <= 0) {
                hasty.apply(pool, next);
                if (next == Phase.ADDITIVE && phase != Phase.ADDITIVE) {
                    hasty.backfill().run(pool);
                }
            }
        }
    }

    EmbeddedDatabase server() {
        return database;
    }

    HikariDataSource pool() {
        return pool;
    }

    /** Whether the new columns are those that count. */
    boolean isNew() {
        return phase.compareTo(Phase.DUAL) >= 0;
    }

    /** The column of this table under this old or this new name, by the phase. */
    String column(String table, String old, String now) {
        if (!isNew()) {
            return spelling.sql("[" + old + "]");
        }
        String interim = now.equals("status") ? "status_code" : now + "_new";
        return query(
                        "SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = ?::regclass AND attname IN (?, ?)"
                                + " ORDER BY attname = ? DESC LIMIT 1",
                        table,
                        now,
                        interim,
                        interim)
                .get(0);
    }

    int execute(String sql, Object... parameters) {
        return this.sql.execute(sql, parameters);
    }

    /** The first column of all rows, as text. */
    List<String> query(String sql, Object... parameters) {
        return this.sql.query(sql, parameters);
    }

    /** What an inbox in this phase cannot do. */
    Set<Feature> inboxLacks() {
        Set<Feature> lacks = lacks();
        lacks.remove(Feature.ANY_MESSAGE_ID);
        if (phase == Phase.LEGACY) {
            lacks.add(Feature.RECEIPT_COUNTS);
        }
        if (phase.compareTo(Phase.DUAL) < 0) {
            lacks.add(Feature.CORRELATION_IDS);
        }
        if (phase.compareTo(Phase.FLIPPED) < 0) {
            lacks.add(Feature.MANY_SOURCES);
        }
        return lacks;
    }

    /** What an outbox in this phase cannot do. */
    Set<Feature> lacks() {
        Set<Feature> lacks = EnumSet.noneOf(Feature.class);
        if (phase.compareTo(Phase.ADDITIVE) < 0) {
            lacks.addAll(Set.of(Feature.SEQUENCES, Feature.FIRST_DUE_TIMES));
        }
        if (phase.compareTo(Phase.DUAL) < 0) {
            lacks.addAll(Set.of(Feature.HEADERS, Feature.CONTENT_TYPES, Feature.TENANTS, Feature.PRIORITIES));
        }
        if (phase.compareTo(Phase.FLIPPED) < 0) {
            lacks.addAll(Set.of(Feature.KEYS, Feature.BINARY_PAYLOADS, Feature.ANY_MESSAGE_ID));
        }
        return lacks;
    }
}
