package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.migrations.Upgrade;
import dev.outbox.sqlserver.OnServer;
import dev.outbox.sqlserver.Server;
import dev.outbox.sqlserver.SqlServerInbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** Old and new versions of an application at work on an inbox that goes all the way meanwhile, on the server given. */
@OnServer(Server.GIVEN)
class SqlServerInboxLiveMigrationIT extends SqlServerLiveMigration {
    private final LegacyInbox old = new LegacyInbox(database, LegacyOutbox.Spelling.PASCAL, table);

    SqlServerInboxLiveMigrationIT() {
        super(Server.GIVEN.database(Server.Variant.AS_IT_IS), "live_inbox", Upgrade.inbox("live_inbox", "billing"));
    }

    @Override
    Node node() {
        Inbox inbox = SqlServerInbox.builder(database.pool())
                .table(table)
                .consumer("billing")
                .refreshInterval(Duration.ofMillis(50))
                .build();
        return new Node() {
            @Override
            public void place(String name, int number) throws SQLException {
                SqlServerInboxLiveMigrationIT.this.place(inbox, name, number);
            }

            @Override
            public PollerBuilder poller() {
                return inbox.poller();
            }
        };
    }

    /** Every message comes twice, and so does one that is only recorded; only the first counts. */
    private void place(Inbox inbox, String node, int number) throws SQLException {
        String order = node + ":" + number;
        Incoming incoming = Incoming.from("shop", order).topic("orders").payload(order);
        for (int time = 0; time < 2; time++) {
            boolean first = !placed.contains(order);
            boolean isKeyed = keyed;
            place(order, tx -> {
                assertThat(inbox.enqueue(tx, isKeyed ? incoming.key(node) : incoming)
                                .isFirst())
                        .as(order)
                        .isEqualTo(first);
                assertThat(inbox.receive(tx, Incoming.from("shop", order + "r").payload(order))
                                .isFirst())
                        .as(order)
                        .isEqualTo(first);
            });
        }
    }

    @Override
    void placeByOld(Connection tx, String order) throws SQLException {
        old.enqueue(tx, "orders", "shop", order, order);
    }

    @Override
    List<Old> claimByOld(Connection tx) throws SQLException {
        UUID owner = UUID.randomUUID();
        return old.claim(tx, owner, 5).stream()
                .map(message -> new Old(message.payload(), done -> old.acknowledge(done, owner, message.messageId())))
                .toList();
    }

    @Override
    String forgettingTheCopy() {
        return "UPDATE " + table + " SET Status = 'Processing'";
    }

    /** Where a table cannot become canonical in all, it ends in phase 3. */
    @Override
    String status() {
        return database.query("SELECT name FROM sys.columns WHERE object_id = OBJECT_ID(N'" + table
                                + "') AND name IN (N'StatusCode', N'statuscode')")
                        .isEmpty()
                ? "Status"
                : "StatusCode";
    }
}
