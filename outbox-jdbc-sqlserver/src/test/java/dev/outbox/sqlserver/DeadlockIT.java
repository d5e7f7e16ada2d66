package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.Receipt.Kind;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.TransactionalSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Transactions that the server ends, and what is left of them: all or nothing. */
class DeadlockIT {
    @Nested
    @OnServer(Server.GIVEN)
    class OnTheServerGiven extends Deadlocks {
        OnTheServerGiven() {
            super(Server.GIVEN);
        }
    }

    @Nested
    @OnServer(Server.V2019)
    class On2019 extends Deadlocks {
        On2019() {
            super(Server.V2019);
        }
    }

    @Nested
    @OnServer(Server.V2022)
    class On2022 extends Deadlocks {
        On2022() {
            super(Server.V2022);
        }
    }

    @Timeout(value = 5, threadMode = Timeout.ThreadMode.SEPARATE_THREAD, unit = java.util.concurrent.TimeUnit.MINUTES)
    abstract static class Deadlocks {
        private final SqlServerDatabase database;

        Deadlocks(Server server) {
            this.database = server.database(Server.Variant.AS_IT_IS);
        }

        /** What is done in a transaction. */
        interface Work {
            void in(Connection tx) throws SQLException;
        }

        private Connection begin() throws SQLException {
            Connection tx = database.pool().getConnection();
            tx.setAutoCommit(false);
            return tx;
        }

        /** Each does its first work, then both their second at a time; whoever fails rolls back, the other commits. */
        private List<OutboxException> failuresOf(List<Work> firsts, List<Work> seconds) throws SQLException {
            try (Connection one = begin();
                    Connection other = begin()) {
                firsts.get(0).in(one);
                firsts.get(1).in(other);
                CompletableFuture<OutboxException> a = CompletableFuture.supplyAsync(() -> end(one, seconds.get(0)));
                CompletableFuture<OutboxException> b = CompletableFuture.supplyAsync(() -> end(other, seconds.get(1)));
                List<OutboxException> failures =
                        Stream.of(a.join(), b.join()).filter(Objects::nonNull).toList();
                one.setAutoCommit(true);
                other.setAutoCommit(true);
                return failures;
            }
        }

        private static OutboxException end(Connection tx, Work work) {
            try {
                work.in(tx);
                tx.commit();
                return null;
            } catch (OutboxException e) {
                try {
                    tx.rollback();
                } catch (SQLException again) {
                    e.addSuppressed(again);
                }
                return e;
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Test
        void ofTwoReceiversThatWaitForEachOtherOneIsToldToTryAgain() throws SQLException {
            String table = database.emptyInboxTable();
            Inbox inbox = SqlServerInbox.builder(database.pool())
                    .table(table)
                    .consumer("billing")
                    .lockTimeout(Duration.ofMinutes(4))
                    .build();
            Incoming first = Incoming.from("shop", "m-1").payload("{}");
            Incoming second = Incoming.from("shop", "m-2").payload("{}");

            List<OutboxException> failures = failuresOf(
                    List.of(tx -> inbox.receive(tx, first), tx -> inbox.receive(tx, second)),
                    List.of(tx -> inbox.receive(tx, second), tx -> inbox.receive(tx, first)));

            assertThat(failures)
                    .singleElement()
                    .satisfies(e -> assertThat(e.isRetryable()).isTrue());
            assertThat(database.query("SELECT MessageId FROM " + table)).containsExactlyInAnyOrder("m-1", "m-2");
            try (Connection again = begin()) {
                assertThat(inbox.receive(again, first).kind()).isEqualTo(Kind.DUPLICATE);
                assertThat(inbox.receive(again, second).kind()).isEqualTo(Kind.DUPLICATE);
                again.commit();
                again.setAutoCommit(true);
            }
        }

        @Test
        void ofTwoProducersThatWaitForEachOthersKeysOneIsToldToTryAgain() throws SQLException {
            String table = database.emptyTable();
            Outbox outbox =
                    SqlServerOutbox.builder(database.pool()).table(table).build();
            Message a = Message.to("orders.placed").key("a").payload("{}");
            Message b = Message.to("orders.placed").key("b").payload("{}");

            List<OutboxException> failures = failuresOf(
                    List.of(tx -> outbox.enqueue(tx, a), tx -> outbox.enqueue(tx, b)),
                    List.of(tx -> outbox.enqueue(tx, b), tx -> outbox.enqueue(tx, a)));

            assertThat(failures)
                    .singleElement()
                    .satisfies(e -> assertThat(e.isRetryable()).isTrue());
            assertThat(database.query("SELECT MessageKey FROM " + table)).containsExactlyInAnyOrder("a", "b");
        }

        /** The rollback stands for what a deadlock does to a handler that swallows it and goes on. */
        @Test
        void aHandlerWhoseTransactionTheServerEndedSettlesNothing() throws SQLException {
            String table = database.emptyTable();
            Outbox outbox =
                    SqlServerOutbox.builder(database.pool()).table(table).build();
            database.commit(outbox, List.of(Message.to("orders.placed").payload("{}")));
            TransactionalSource source = (TransactionalSource) outbox.source();
            Claim claim = source.claim(new ClaimRequest(10, Duration.ofMinutes(10), 3, Set.of(), "test"));
            List<Settlement> done =
                    List.of(Settlement.done(claim.lease(claim.items().get(0))));
            String effect = "UPDATE " + table + " SET TenantId = N'effect'";

            try (TransactionalSource.Transaction tx = source.begin();
                    Statement statement = tx.connection().createStatement()) {
                statement.execute("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION");
                statement.execute(effect);
                OutboxException e =
                        catchThrowableOfType(OutboxException.class, () -> source.settle(tx.connection(), done));

                assertThat(e).hasMessageContaining("the handler's transaction ended before the handler did");
                assertThat(e.isRetryable()).isTrue();
            }
            assertThat(database.query("SELECT CONCAT(Status, TenantId) FROM " + table))
                    .containsExactly("1");

            try (TransactionalSource.Transaction tx = source.begin();
                    Statement statement = tx.connection().createStatement()) {
                statement.execute(effect);
                assertThat(source.settle(tx.connection(), done)).isEmpty();
                tx.commit();
            }
            assertThat(database.query("SELECT CONCAT(Status, TenantId) FROM " + table))
                    .containsExactly("2effect");
        }
    }
}
