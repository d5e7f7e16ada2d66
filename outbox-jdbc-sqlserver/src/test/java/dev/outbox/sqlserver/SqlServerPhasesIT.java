package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.Upgrade;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An outbox of the field on its way to the canonical one, on the server given. */
@OnServer(Server.GIVEN)
class SqlServerPhasesIT {
    private static final String TABLE = "px";

    private final Upgrade upgrade =
            Upgrade.outbox(TABLE).refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    private SqlServerDatabase database;

    @BeforeEach
    void open() {
        database = Server.GIVEN.database(Server.Variant.AS_IT_IS);
    }

    @ParameterizedTest
    @EnumSource
    void aTableThatWentAllTheWayEqualsAFreshOne(LegacyOutbox.Spelling spelling) {
        LegacyOutbox old = new LegacyOutbox(database, spelling, TABLE);
        old.row("one", 0, 1, null);
        old.row("two", 2, 2, null);
        go(Phase.CLEAN);

        assertThat(upgrade.report(migration()).findings()).isEmpty();
        LegacyOutbox.drop(database, "fx");
        OutboxMigrations.install(database.pool(), "fx");
        assertThat(catalog(TABLE)).containsExactlyElementsOf(catalog("fx"));
    }

    private DataSource migration() {
        return ForgivingDataSource.over(database);
    }

    private void go(Phase to) {
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
    private List<String> catalog(String table) {
        List<String> catalog = database.query("""
                SELECT LOWER(CONCAT(c.name, N' ', CASE WHEN t.name = N'datetimeoffset' THEN N'datetime2' ELSE t.name END,
                    N' ', CASE WHEN c.name = N'LastError' OR t.name LIKE N'datetime%' THEN 0 ELSE c.max_length END,
                    N' ', c.is_nullable, N' ', c.is_computed))
                FROM sys.columns c JOIN sys.types t ON t.user_type_id = c.user_type_id
                WHERE c.object_id = OBJECT_ID(?) ORDER BY 1
                """, table);
        catalog.addAll(database.query("""
                SELECT CONCAT(REPLACE(i.name, ?, N''), N' ', i.is_primary_key, i.is_unique, N' ', i.has_filter)
                FROM sys.indexes i WHERE i.object_id = OBJECT_ID(?) AND i.name IS NOT NULL ORDER BY 1
                """, table, table));
        catalog.addAll(database.query("""
                SELECT CONCAT(REPLACE(o.name, ?, N''), N' ', o.type) FROM sys.objects o
                WHERE o.parent_object_id = OBJECT_ID(?) AND o.type IN ('D', 'C', 'PK', 'UQ', 'TR') ORDER BY 1
                """, table, table));
        catalog.addAll(database.query("""
                SELECT CAST(p.value AS nvarchar(255)) FROM sys.extended_properties p
                WHERE p.major_id = OBJECT_ID(?) AND p.minor_id = 0
                """, table));
        return catalog;
    }
}
