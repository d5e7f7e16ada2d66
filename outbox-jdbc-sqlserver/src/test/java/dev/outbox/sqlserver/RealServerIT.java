package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** What only a real SQL Server shows: its locks and its plans. Skipped, with the reason, on a server that has none. */
class RealServerIT {
    @Nested
    @OnServer(Server.GIVEN)
    class OnTheServerGiven extends Insights {
        OnTheServerGiven() {
            super(Server.GIVEN);
        }
    }

    @Nested
    @OnServer(Server.V2019)
    class On2019 extends Insights {
        On2019() {
            super(Server.V2019);
        }
    }

    @Nested
    @OnServer(Server.V2022)
    class On2022 extends Insights {
        On2022() {
            super(Server.V2022);
        }
    }

    abstract static class Insights {
        private static final String LOCKS = """
                SELECT CONCAT(resource_type, N' ', request_mode) AS locked, COUNT(*) AS times
                FROM sys.dm_tran_locks
                WHERE request_session_id = @@SPID AND resource_type IN (N'OBJECT', N'PAGE', N'KEY', N'RID')
                GROUP BY resource_type, request_mode
                """;

        private static final String PLANS = """
                SELECT CAST(p.query_plan AS nvarchar(max))
                FROM sys.dm_exec_query_stats s
                CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) t
                CROSS APPLY sys.dm_exec_query_plan(s.plan_handle) p
                WHERE p.dbid = DB_ID() AND p.query_plan IS NOT NULL AND t.text LIKE N'%contract_%'
                """;

        private final Server server;
        private final SqlServerDatabase database;

        Insights(Server server) {
            this.server = server;
            this.database = server.database(Server.Variant.AS_IT_IS);
        }

        private static ClaimRequest request(int count) {
            return new ClaimRequest(count, Duration.ofMinutes(10), 3, Set.of(), "test");
        }

        private SqlServerDatabase set(Server.Variant variant) {
            Optional<String> obstacle = server.obstacle(variant);
            assumeTrue(obstacle.isEmpty(), () -> obstacle.orElse(""));
            return server.database(variant);
        }

        private void assumeShows(String view) {
            try (Connection connection = database.pool().getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM sys." + view)) {
                assertThat(row.next()).isTrue();
            } catch (SQLException e) {
                abort("the server does not show sys." + view + ": error " + e.getErrorCode());
            }
        }

        private static Outbox outbox(javax.sql.DataSource dataSource, String table) {
            return SqlServerOutbox.builder(dataSource)
                    .table(table)
                    .retention(Duration.ofDays(1))
                    .deadRetention(Duration.ofDays(1))
                    .build();
        }

        private static List<Message> messages(int count) {
            return Collections.nCopies(count, Message.to("orders.placed").payload("{}"));
        }

        /** What a claim or a purge has locked, on a connection that leaves its transaction open. */
        private List<String> locksOf(java.util.function.ToIntFunction<Source> work, int rows) throws SQLException {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(database.url());
            config.setMaximumPoolSize(1);
            config.setConnectionInitSql("SET IMPLICIT_TRANSACTIONS ON");
            List<String> locks = new ArrayList<>();
            try (HikariDataSource single = new HikariDataSource(config)) {
                Source source = outbox(single, "contract_outbox").source();
                assertThat(work.applyAsInt(source)).isEqualTo(rows);
                try (Connection connection = single.getConnection();
                        Statement statement = connection.createStatement()) {
                    try (ResultSet row = statement.executeQuery(LOCKS)) {
                        while (row.next()) {
                            assertThat(row.getInt("times")).isLessThan(5_000);
                            locks.add(row.getString("locked"));
                        }
                    }
                    statement.execute("ROLLBACK TRANSACTION");
                }
            }
            return locks;
        }

        @Test
        void aClaimLocksRowsAndNothingMore() throws SQLException {
            assumeShows("dm_tran_locks");
            database.commit(outbox(database.pool(), database.emptyTable()), messages(6_000));

            List<String> locks =
                    locksOf(source -> source.claim(request(500)).items().size(), 500);

            assertThat(locks).contains("KEY X").doesNotContain("OBJECT X", "OBJECT U", "OBJECT S", "PAGE X", "PAGE U");
        }

        @Test
        void aPurgeLocksRowsAndNothingMore() throws SQLException {
            assumeShows("dm_tran_locks");
            String table = database.emptyTable();
            database.commit(outbox(database.pool(), table), messages(6_000));
            database.execute("UPDATE " + table + " SET Status = 2, ProcessedOn = DATEADD(day, -2, SYSUTCDATETIME())");

            List<String> locks = locksOf(Source::purge, 1_000);

            assertThat(locks).contains("KEY X").doesNotContain("OBJECT X", "OBJECT U", "OBJECT S", "PAGE X", "PAGE U");
        }

        @Test
        void everySearchGoesByItsIndexWithoutConversions() throws SQLException {
            assumeShows("dm_exec_query_stats");
            String table = database.emptyTable();
            Outbox outbox = outbox(database.pool(), table);
            Message message = Message.to("orders.placed").payload("{}");
            database.commit(
                    outbox, List.of(message, message.dueIn(Duration.ofMillis(1)), message.key("a"), message.key("a")));
            Source source = outbox.source();
            for (int i = 0; i < 6; i++) {
                Claim claim = source.claim(request(10));
                source.settle(claim.items().stream()
                        .map(item -> Settlement.done(claim.lease(item)))
                        .toList());
            }
            source.purge();
            Inbox inbox = SqlServerInbox.builder(database.pool())
                    .table(database.emptyInboxTable())
                    .consumer("billing")
                    .build();
            try (Connection tx = database.pool().getConnection()) {
                tx.setAutoCommit(false);
                inbox.receive(tx, Incoming.from("shop", "m-1").payload("{}"));
                inbox.enqueue(tx, Incoming.from("shop", "m-2").topic("t").payload("{}"));
                tx.commit();
                tx.setAutoCommit(true);
            }
            inbox.get("shop", "m-1");

            List<String> plans = database.query(PLANS);

            assertThat(plans).isNotEmpty().noneMatch(plan -> plan.contains("ConvertIssue=\"Seek Plan\""));
            for (String suffix : SqlServerTable.INDEXES.values()) {
                assertThat(plans)
                        .as("plans that go by " + suffix)
                        .anyMatch(plan -> plan.contains("Index=\"[" + table + suffix + "]\""));
            }
        }

        @Test
        void aConnectionInSnapshotIsUsedAndGoesBackAsItCame() {
            SqlServerDatabase snapshot = set(Server.Variant.SNAPSHOT);
            Outbox outbox = outbox(snapshot.pool(), snapshot.emptyTable());
            snapshot.commit(outbox, messages(1));

            assertThat(outbox.source().claim(request(10)).items()).hasSize(1);
            assertThat(snapshot.query(
                            "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID"))
                    .containsExactly("5");
        }

        @Test
        void aTableWithADisabledIndexIsRefused() throws SQLException {
            String table = database.emptyTable();
            try (Connection connection = database.pool().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("ALTER INDEX contract_outbox_Done ON " + table + " DISABLE");
            } catch (SQLException e) {
                abort("the server cannot disable an index: error " + e.getErrorCode());
            }
            try {
                assertThatThrownBy(() -> outbox(database.pool(), table))
                        .isInstanceOf(OutboxException.class)
                        .hasMessageContaining("index [contract_outbox_Done] is disabled: ALTER INDEX ... REBUILD");
            } finally {
                database.execute("ALTER INDEX contract_outbox_Done ON " + table + " REBUILD");
            }
        }

        @Test
        void textsStayWholeInADatabaseThatCountsByCodePoint() {
            SqlServerDatabase supplementary = set(Server.Variant.SUPPLEMENTARY);
            Outbox outbox = outbox(supplementary.pool(), supplementary.emptyTable());
            List<String> payloads = List.of("a \uD83D\uDE80 to the moon", "another \uD83D\uDE80", "none");
            supplementary.commit(
                    outbox,
                    payloads.stream()
                            .map(payload -> Message.to("orders.placed").payload(payload))
                            .toList());

            assertThat(outbox.source().claim(request(10)).items())
                    .extracting(WorkItem::payload)
                    .containsExactlyElementsOf(payloads);
        }

        @Test
        void aDatabaseThatDoesNotKnowJsonIsRefused() {
            SqlServerDatabase old = set(Server.Variant.OLD);

            assertThatThrownBy(() -> outbox(old.pool(), "outbox"))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("its compatibility level must be at least 130");
        }
    }
}
