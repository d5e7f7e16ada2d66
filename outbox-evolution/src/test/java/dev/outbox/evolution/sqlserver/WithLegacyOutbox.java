package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.sqlserver.Server;
import dev.outbox.sqlserver.SqlServerDatabase;
import dev.outbox.sqlserver.SqlServerOutbox;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A test of a legacy outbox on the server given, and of its upgrade, which waits for nothing. */
abstract class WithLegacyOutbox {
    static final AtomicInteger TABLES = new AtomicInteger();

    /** Each test has one of its own: what a driver has prepared may outlive a table. */
    final String table = "x" + TABLES.incrementAndGet();

    final Upgrade upgrade = Upgrade.outbox(table).refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    SqlServerDatabase database;

    @BeforeEach
    void open() {
        database = Server.GIVEN.database(Server.Variant.AS_IT_IS);
    }

    @AfterEach
    void drop() {
        LegacyOutbox.drop(database, table);
    }

    void assertRefused(Message message, String reason) {
        assertThatThrownBy(() -> database.commit(outbox(), List.of(message)))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining(reason);
    }

    void transaction(SqlServerDatabase.Work work) throws SQLException {
        database.transaction(work);
    }

    Outbox outbox() {
        return SqlServerOutbox.builder(database.pool()).table(table).build();
    }

    static ClaimRequest request() {
        return new ClaimRequest(10, Duration.ofMinutes(5), 5, Set.of(), "test");
    }

    /** Babelfish gives a new column's default to the rows that are there; a new column of SQL Server is null in them. */
    void forgetNumbers() {
        database.execute("UPDATE " + table + " SET Sequence = NULL, Priority = NULL, BlocksKey = NULL");
    }

    DataSource migration() {
        return ForgivingDataSource.over(database);
    }

    void go(Phase to) {
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.CLEAN)) {
            if (phase.compareTo(to) <= 0) {
                upgrade.apply(migration(), phase);
                if (phase == Phase.ADDITIVE && to != Phase.ADDITIVE) {
                    upgrade.backfill().run(migration());
                }
            }
        }
    }

    /** Columns, indexes and constraints, without what stays as the old table had it: see docs/reference/schema.md. */
    static List<String> catalog(SqlServerDatabase database, String table) {
        List<String> catalog = database.query("""
                SELECT LOWER(CONCAT(c.name, N' ', CASE t.name WHEN N'datetimeoffset' THEN N'datetime2'
                        WHEN N'binary' THEN N'varbinary' ELSE t.name END,
                    N' ', CASE WHEN c.name = N'LastError' OR t.name LIKE N'datetime%' THEN 0 ELSE c.max_length END,
                    N' ', c.is_nullable, N' ', c.is_computed))
                FROM sys.columns c JOIN sys.types t ON t.user_type_id = c.user_type_id
                WHERE c.object_id = OBJECT_ID(?) ORDER BY 1
                """, table);
        catalog.addAll(database.query("""
                SELECT CONCAT(i.name, N' ', i.is_primary_key, i.is_unique, N' ', i.has_filter)
                FROM sys.indexes i WHERE i.object_id = OBJECT_ID(?) AND i.name IS NOT NULL ORDER BY 1
                """, table));
        catalog.addAll(database.query("""
                SELECT CONCAT(o.name, N' ', o.type) FROM sys.objects o
                WHERE o.parent_object_id = OBJECT_ID(?) AND o.type IN ('D', 'C', 'PK', 'UQ', 'TR') ORDER BY 1
                """, table));
        catalog.addAll(database.query("""
                SELECT CAST(p.value AS nvarchar(255)) FROM sys.extended_properties p
                WHERE p.major_id = OBJECT_ID(?) AND p.minor_id = 0
                """, table));
        return catalog.stream()
                .map(line -> line.replaceAll("(?i)" + table + "([a-f0-9]{32})?", "T"))
                .map(line -> database.isBabelfish() ? asFarAsBabelfishGoes(line) : line)
                .filter(line -> !line.isEmpty())
                .sorted()
                .toList();
    }

    /** Without defaults, which have no names there, and what cannot be altered. */
    static String asFarAsBabelfishGoes(String line) {
        return line.startsWith("DF_")
                ? ""
                : line.replaceAll("^(\\w+ \\w+ -?\\d+) [01] ([01])$", "$1 $2")
                        .replace("processedby nvarchar 200", "processedby nvarchar 510")
                        .replace("topic nvarchar 256", "topic nvarchar 510");
    }
}
