package dev.outbox.evolution.sqlserver;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.migrations.Upgrade;
import dev.outbox.sqlserver.OnServer;
import dev.outbox.sqlserver.Server;
import dev.outbox.sqlserver.SqlServerOutbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** Old and new versions of an application at work on an outbox that goes all the way meanwhile, on the server given. */
@OnServer(Server.GIVEN)
class SqlServerLiveMigrationIT extends SqlServerLiveMigration {
    private final LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);

    SqlServerLiveMigrationIT() {
        super(Server.GIVEN.database(Server.Variant.AS_IT_IS), "live", Upgrade.outbox("live"));
    }

    @Override
    Node node() {
        Outbox outbox = SqlServerOutbox.builder(database.pool())
                .table(table)
                .refreshInterval(Duration.ofMillis(50))
                .build();
        return new Node() {
            @Override
            public void place(String name, int number) throws SQLException {
                SqlServerLiveMigrationIT.this.place(outbox, name, number);
            }

            @Override
            public PollerBuilder poller() {
                return outbox.poller();
            }
        };
    }

    private void place(Outbox outbox, String node, int number) throws SQLException {
        String order = node + ":" + number;
        Message message = Message.to("orders").payload(order);
        place(order, tx -> outbox.enqueue(tx, keyed ? message.key(node) : message));
    }

    @Override
    void placeByOld(Connection tx, String order) throws SQLException {
        old.enqueue(tx, "orders", order);
    }

    @Override
    List<Old> claimByOld(Connection tx) throws SQLException {
        UUID owner = UUID.randomUUID();
        return old.claim(tx, owner, 5).stream()
                .map(message -> new Old(message.payload(), done -> old.acknowledge(done, owner, message.id())))
                .toList();
    }

    @Override
    String forgettingTheCopy() {
        return "UPDATE " + table + " SET MessageId = NEWID()";
    }

    @Override
    String status() {
        return "Status";
    }
}
