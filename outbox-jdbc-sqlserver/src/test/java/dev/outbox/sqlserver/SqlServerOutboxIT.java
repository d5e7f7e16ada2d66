package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.WorkItem;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Heartbeat;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** What is particular to SQL Server. */
class SqlServerOutboxIT {
    @Nested
    @OnServer(Server.GIVEN)
    class OnTheServerGiven extends Particulars {
        OnTheServerGiven() {
            super(Server.GIVEN);
        }
    }

    @Nested
    @OnServer(Server.V2019)
    class On2019 extends Particulars {
        On2019() {
            super(Server.V2019);
        }
    }

    @Nested
    @OnServer(Server.V2022)
    class On2022 extends Particulars {
        On2022() {
            super(Server.V2022);
        }
    }

    abstract static class Particulars {
        private final SqlServerDatabase database;
        private final String table;
        private final Outbox outbox;

        Particulars(Server server) {
            this.database = server.database(Server.Variant.AS_IT_IS);
            this.table = database.emptyTable();
            this.outbox = SqlServerOutbox.builder(database.pool()).table(table).build();
        }

        private Connection begin() throws SQLException {
            Connection tx = database.pool().getConnection();
            tx.setAutoCommit(false);
            return tx;
        }

        private static Message message() {
            return Message.to("orders.placed").payload("{}");
        }

        private static ClaimRequest request() {
            return new ClaimRequest(10, Duration.ofMinutes(10), 3, Set.of(), "test");
        }

        @Test
        void aDuplicateIsAnsweredAndLeavesTheTransactionGood() throws SQLException {
            database.commit(outbox, List.of(message().id("m-1")));
            try (Connection tx = begin();
                    Statement statement = tx.createStatement()) {
                statement.execute("SET XACT_ABORT ON");
                Enqueued first = outbox.enqueue(tx, message().id("m-2"));
                Enqueued mixed = outbox.enqueueAll(
                        tx,
                        List.of(
                                message().id("m-1"),
                                message().id("m-3"),
                                message().id("m-3")));
                statement.execute("SET XACT_ABORT OFF");
                tx.commit();
                tx.setAutoCommit(true);

                assertThat(first.stored()).containsExactly("m-2");
                assertThat(mixed).isEqualTo(new Enqueued(List.of("m-3"), List.of("m-1", "m-3")));
            }
            assertThat(database.query("SELECT MessageId FROM " + table + " ORDER BY Sequence"))
                    .containsExactly("m-1", "m-2", "m-3");
        }

        @Test
        void aBatchBeyondEveryLimitOfParametersKeepsItsOrder() {
            List<String> ids = IntStream.range(0, 2_500).mapToObj(i -> "m-" + i).toList();

            database.commit(outbox, ids.stream().map(id -> message().id(id)).toList());

            assertThat(database.query("SELECT MessageId FROM " + table + " ORDER BY Sequence"))
                    .containsExactlyElementsOf(ids);
        }

        @Test
        void theSecondTransactionOfAKeyWaitsAndAnotherKeyDoesNot() throws SQLException {
            try (Connection first = begin();
                    Connection second = begin();
                    Statement impatience = second.createStatement()) {
                outbox.enqueue(first, message().key("a").id("m-1"));
                impatience.execute("SET LOCK_TIMEOUT 200");

                outbox.enqueue(second, message().key("b").id("m-2"));
                OutboxException e = catchThrowableOfType(
                        OutboxException.class,
                        () -> outbox.enqueue(second, message().key("a").id("m-3")));

                assertThat(e.isRetryable()).isTrue();
                second.rollback();
                first.commit();
                impatience.execute("SET LOCK_TIMEOUT 200");
                outbox.enqueue(second, message().key("a").id("m-4"));
                impatience.execute("SET LOCK_TIMEOUT -1");
                second.commit();
                first.setAutoCommit(true);
                second.setAutoCommit(true);
            }
            assertThat(database.query("SELECT MessageId FROM " + table + " ORDER BY Sequence"))
                    .containsExactly("m-1", "m-4");
        }

        @Test
        void aTableWithATriggerIsServed() {
            database.execute("DROP TRIGGER IF EXISTS contract_trigger");
            database.execute("CREATE TRIGGER contract_trigger ON " + table
                    + " AFTER INSERT, UPDATE, DELETE AS BEGIN SET NOCOUNT ON; END");
            try {
                List<String> ids = database.commit(
                        outbox, List.of(message(), message().key("a"), message().key("a")));
                Source source = outbox.source();
                List<String> claimed = new ArrayList<>();
                for (Claim claim = source.claim(request()); claim.more(); claim = source.claim(request())) {
                    Claim leased = claim;
                    claim.items().stream().map(WorkItem::messageId).forEach(claimed::add);
                    assertThat(source.renew(
                                            claim.items().stream()
                                                    .map(leased::lease)
                                                    .toList(),
                                            Duration.ofMinutes(1))
                                    .lost())
                            .isEmpty();
                    assertThat(source.settle(claim.items().stream()
                                            .map(item -> Settlement.done(leased.lease(item)))
                                            .toList())
                                    .lost())
                            .isEmpty();
                }
                assertThat(claimed).containsExactlyInAnyOrderElementsOf(ids);
            } finally {
                database.execute("DROP TRIGGER contract_trigger");
            }
        }

        @Test
        void aClaimLeavesTheConnectionsLockTimeoutAsItWas() throws SQLException {
            database.commit(outbox, List.of(message().key("a")));
            Source source = outbox.source();
            while (source.claim(request()).more()) {}

            assertThat(database.query("SELECT @@LOCK_TIMEOUT")).containsExactly("-1");
        }

        @Test
        void aClaimPassesByWhatOthersHold() throws SQLException {
            database.commit(
                    outbox,
                    List.of(
                            message().id("held"),
                            message().id("free"),
                            message().key("k").id("behind")));
            try (Connection other = begin();
                    Statement statement = other.createStatement()) {
                statement.execute(
                        "UPDATE " + table + " SET LastError = N'held' WHERE MessageId IN (N'held', N'behind')");

                List<String> claimed = new ArrayList<>();
                Source source = outbox.source();
                for (int i = 0; i < 10; i++) {
                    source.claim(request()).items().forEach(item -> claimed.add(item.messageId()));
                }

                assertThat(claimed).containsExactly("free");
                other.rollback();
                other.setAutoCommit(true);
            }
        }

        @Test
        void aClaimOfManyKeysTakesNoMoreThanItWasAskedFor() {
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                messages.add(message().key("key-" + i % 100));
            }
            database.commit(outbox, messages);

            Claim claim = outbox.source().claim(new ClaimRequest(64, Duration.ofMinutes(10), 3, Set.of(), "test"));

            assertThat(claim.items()).hasSize(64);
        }

        @Test
        void aKeyThatOthersHoldIsLeftAlone() throws SQLException {
            List<String> ids = database.commit(
                    outbox,
                    List.of(message().key("k"), message().key("k"), message().key("k")));
            Source source = outbox.source();
            try (Connection other = begin();
                    Statement statement = other.createStatement()) {
                statement.execute("UPDATE " + table + " SET LastError = N'held'");
                for (int i = 0; i < 5; i++) {
                    assertThat(source.claim(request()).items()).isEmpty();
                }
                other.rollback();
                other.setAutoCommit(true);
            }
            List<String> claimed = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                source.claim(request()).items().forEach(item -> claimed.add(item.messageId()));
            }
            assertThat(claimed).containsExactlyElementsOf(ids);
        }

        @Test
        void aPollerTellsOfItselfAndForgetsThoseThatAreSilent() {
            database.execute("DROP TABLE IF EXISTS outbox_pollers");
            database.execute("DROP TABLE IF EXISTS outbox_audit");
            OutboxMigrations.installAdmin(database.pool());
            database.execute(
                    "INSERT INTO outbox_pollers (TableName, Poller, Version, Phase, StartedOn, SeenOn, LeaseMs,"
                            + " LongestDeliveryMs) SELECT N'gone', N'silent', N'1', N'4', at, at, 0, 0"
                            + " FROM (SELECT DATEADD(day, -2, SYSUTCDATETIME()) AS at) then_");
            Source source = outbox.source();
            Duration any = Duration.ofSeconds(1);

            for (int i = 0; i < 2; i++) {
                source.heartbeat(new Heartbeat("node", "1", any, null, any, any, null, null, false));
                assertThat(database.query("SELECT CONCAT(Poller, N' ', Phase, N' ', TableName) FROM outbox_pollers"))
                        .containsExactly("node 4 dbo." + table);
            }
            source.heartbeat(new Heartbeat("node", "1", any, any, any, any, null, null, true));

            assertThat(database.query("SELECT Poller FROM outbox_pollers")).isEmpty();
        }

        @Test
        void oldDeadRowsAreRemovedUnlessTheyBlockTheirKey() {
            database.commit(
                    outbox,
                    List.of(
                            message().id("old"),
                            message().id("young"),
                            message().key("k").id("blocking")));
            database.execute("UPDATE " + table + " SET Status = 3, ProcessedOn = CASE MessageId WHEN N'young'"
                    + " THEN SYSUTCDATETIME() ELSE DATEADD(day, -2, SYSUTCDATETIME()) END,"
                    + " BlocksKey = CASE MessageId WHEN N'blocking' THEN 1 ELSE 0 END");
            Source source = SqlServerOutbox.builder(database.pool())
                    .table(table)
                    .deadRetention(Duration.ofDays(1))
                    .build()
                    .source();

            assertThat(source.purge()).isOne();
            assertThat(source.purge()).isZero();
            assertThat(database.query("SELECT MessageId FROM " + table)).containsExactlyInAnyOrder("young", "blocking");
        }

        @Test
        void everythingThatIsWrongIsSaidWhenItIsBuilt() {
            OutboxMigrations.installIfMissing(database.pool(), "contract_wrong");
            try {
                database.execute("DROP INDEX contract_wrong_KeyDue ON contract_wrong");
                database.execute("ALTER TABLE contract_wrong ALTER COLUMN TenantId varchar(100)");

                OutboxException e = catchThrowableOfType(
                        OutboxException.class,
                        () -> SqlServerOutbox.builder(database.pool())
                                .table("contract_wrong")
                                .build());

                assertThat(e.getMessage())
                        .isEqualToIgnoringCase(
                                "table \"dbo.contract_wrong\" is not an outbox table: column [TenantId]"
                                        + " must be nvarchar(255) NULL, was varchar(100) NULL; it has no index on (due_on) WHERE"
                                        + " status = 0 AND message_key IS NOT NULL; apply outbox-migrations (sqlserver) or set table(...)");
            } finally {
                database.execute("DROP TABLE contract_wrong");
                database.execute("DROP SEQUENCE contract_wrong_sequence");
            }
        }

        @Test
        void whatIsMissingIsSaidWhenItIsBuilt() {
            assertThatThrownBy(() -> SqlServerOutbox.builder(database.pool())
                            .table("no_such_table")
                            .build())
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("table \"no_such_table\" not found; apply outbox-migrations (sqlserver)");
            String inbox = database.emptyInboxTable();
            assertThatThrownBy(() -> SqlServerOutbox.builder(database.pool())
                            .table(inbox)
                            .build())
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("is an inbox table; open it with SqlServerInbox");
            assertThatThrownBy(() -> SqlServerInbox.builder(database.pool())
                            .table(table)
                            .consumer("billing")
                            .build())
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("is an outbox table; open it with SqlServerOutbox");
            assertThatThrownBy(() -> SqlServerInbox.builder(database.pool()).consumer("billing "))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("must not end with a space");
        }
    }
}
