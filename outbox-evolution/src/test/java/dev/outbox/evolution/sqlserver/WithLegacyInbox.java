package dev.outbox.evolution.sqlserver;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Receipt;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.sqlserver.Server;
import dev.outbox.sqlserver.SqlServerDatabase;
import dev.outbox.sqlserver.SqlServerInbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A test of a legacy inbox on the server given, and of its upgrade, which waits for nothing. */
abstract class WithLegacyInbox {
    static final AtomicInteger TABLES = new AtomicInteger();
    static final List<Phase> UNTIL_THE_FLIP = List.of(Phase.LEGACY, Phase.ADDITIVE, Phase.DUAL);

    /** Each test has one of its own: what a driver has prepared may outlive a table. */
    final String table = "y" + TABLES.incrementAndGet();

    final Upgrade upgrade =
            Upgrade.inbox(table, "billing").refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    SqlServerDatabase database;

    @BeforeEach
    void open() {
        database = Server.GIVEN.database(Server.Variant.AS_IT_IS);
    }

    @AfterEach
    void drop() {
        LegacyOutbox.drop(database, table);
    }

    LegacyInbox legacy() {
        return new LegacyInbox(database, LegacyOutbox.Spelling.PASCAL, table);
    }

    void transaction(SqlServerDatabase.Work work) throws SQLException {
        database.transaction(work);
    }

    Receipt receive(Inbox inbox, String id) {
        return committed(tx -> inbox.receive(tx, Incoming.from("shop", id).payload("p")));
    }

    Receipt enqueue(Inbox inbox, String id) {
        return committed(tx ->
                inbox.enqueue(tx, Incoming.from("shop", id).topic("orders").payload("p")));
    }

    interface Receiving {
        Receipt in(Connection tx) throws SQLException;
    }

    Receipt committed(Receiving receiving) {
        Receipt[] receipt = new Receipt[1];
        try {
            transaction(tx -> receipt[0] = receiving.in(tx));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return receipt[0];
    }

    Inbox inbox(String consumer) {
        return SqlServerInbox.builder(database.pool())
                .table(table)
                .consumer(consumer)
                .build();
    }

    static ClaimRequest request() {
        return new ClaimRequest(10, Duration.ofMinutes(5), 5, Set.of(), "test");
    }

    /** Babelfish gives a new column's default to the rows that are there; a new column of SQL Server is null in them. */
    void forgetNumbers() {
        database.execute(
                "UPDATE " + table + " SET Sequence = NULL, Priority = NULL, BlocksKey = NULL, WorkItemId = NULL,"
                        + " Consumer = NULL, ReceiptCount = NULL, CreatedOn = NULL, StatusCode = NULL, MessageIdNew = NULL,"
                        + " SourceNew = NULL");
    }

    DataSource migration() {
        return ForgivingDataSource.over(database);
    }

    /** From the phase before to this one. */
    void come(Phase phase) {
        if (phase != Phase.LEGACY) {
            if (phase == Phase.DUAL || phase == Phase.FLIPPED) {
                upgrade.backfill().run(migration());
            }
            upgrade.apply(migration(), phase);
        }
    }

    void go(Phase to) {
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.CLEAN)) {
            if (phase.compareTo(to) <= 0) {
                come(phase);
            }
        }
    }
}
