package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Ack;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OnConflict;
import dev.outbox.OutboxException;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.claim.Arrivals;
import dev.outbox.jdbc.internal.claim.FreedKeys;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.inbox.InboxRecords;
import dev.outbox.jdbc.internal.inbox.Reception;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.queue.SourceSettings;
import dev.outbox.jdbc.internal.queue.TableSource;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.jdbc.internal.sqlserver.NationalText;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Heartbeat;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.TransactionalSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Every call sets the parameters that its statement has, all of them and no other, found out without a server. */
class ParametersTest {
    private static final Duration DAY = Duration.ofDays(1);

    private static final Lease LEASE =
            new Lease(UUID.randomUUID().toString(), UUID.randomUUID().toString());

    private final ObligingDriver driver = new ObligingDriver("Microsoft SQL Server");
    private final Connections connections = new Connections(driver.dataSource());
    private final MessageRow.Rules rules = new MessageRow.Rules(null, 1_000, 1_000);
    private final SqlServerTable table = new SqlServerTable(
            TableName.parse("dbo.inbox"),
            true,
            new Layout(
                    TsqlTest.layout().table(),
                    TsqlTest.layout().columns(),
                    Map.of(),
                    Map.of("consumer", new NationalText("billing"))),
            "locks:",
            false,
            Phase.CLEAN,
            Map.of());

    private TableSource source(SqlServerTable of) {
        SourceSettings settings = new SourceSettings(
                connections, Ack.KEEP, DAY, DAY, null, System::nanoTime, new Arrivals(), new FreedKeys());
        return new TableSource(of.name(), settings, new SqlServerSourceStatements(of, settings));
    }

    private String resolved(String statement) {
        return table.layout()
                .with("patience", Reading.fixed("1000"))
                .with("pollers", Reading.fixed("[dbo].[outbox_pollers]"))
                .resolve(statement)
                .text();
    }

    @Test
    void ofEveryStatement() throws SQLException {
        claimSettleAndPurge();
        enqueueAndReceive();
        lookAfterRecords();
        workATableOnItsWay();
        assertThatThrownBy(() -> SqlServerOutbox.create(driver.dataSource()))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("is not an outbox table");

        TsqlTest.statements()
                .forEach((name, statement) -> assertThat(driver.ran())
                        .as(name + " was run")
                        .anyMatch(text -> text.contains(resolved(statement).strip())));
    }

    private void claimSettleAndPurge() throws SQLException {
        TransactionalSource source = source(table);

        source.claim(new ClaimRequest(10, Duration.ofMinutes(1), 3, Set.of("orders.placed"), "test"));
        source.settle(List.of(Settlement.done(LEASE)));
        source.renew(List.of(LEASE), Duration.ofMinutes(1));
        source.nextDue(Set.of("orders.placed"));
        source.purge();
        source.heartbeat(new Heartbeat("test", "1", DAY, DAY, DAY, DAY, null, null, false));
        try (TransactionalSource.Transaction tx = source.begin()) {
            source.settle(tx.connection(), List.of(Settlement.done(LEASE)));
        }
    }

    private void workATableOnItsWay() {
        SqlServerTable additive =
                new SqlServerTable(table.name(), false, table.layout(), "locks:", false, Phase.ADDITIVE, Map.of());
        source(additive).claim(new ClaimRequest(10, Duration.ofMinutes(1), 3, Set.of("orders.placed"), "test"));
        source(table).renew(List.of(new Lease("message m-1", LEASE.ownerToken())), DAY);
        SqlServerChange.begin(driver.connection(), additive);
        SqlServerChange.isUnharmed(driver.connection());
    }

    private void enqueueAndReceive() throws SQLException {
        SqlServerReceive receive = new SqlServerReceive(table, true, Duration.ofSeconds(1));
        Reception reception = new Reception("billing", OnConflict.ANSWER, rules, new Emitter(List.of()));

        new SqlServerEnqueue(table, true)
                .insert(
                        driver.connection(),
                        List.of(MessageRow.of(
                                Message.to("orders.placed").key("a").payload("{}"), rules)));
        receive.receive(
                driver.connection(),
                reception.arrival(Incoming.from("shop", "m-1").payload("{}")));
        receive.enqueue(
                driver.connection(),
                reception.arrivals(List.of(
                        Incoming.from("shop", "m-1").topic("orders.placed").payload("{}"))));
    }

    private void lookAfterRecords() throws SQLException {
        InboxRecords records = new InboxRecords(table.name(), connections, DAY, new SqlServerRecords(table));

        assertThat(records.get("shop", "m-1")).isPresent();
        records.markDead(driver.connection(), "shop", "m-1", "no");
        assertThatThrownBy(() -> records.requeue("shop", "m-1", true))
                .hasMessageContaining("cannot requeue message m-1");
    }

    @Test
    void anotherDatabaseIsToldSo() {
        assertThatThrownBy(() -> SqlServerOutbox.create(new ObligingDriver("PostgreSQL").dataSource()))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("the data source leads to PostgreSQL, not to Microsoft SQL Server; open table"
                        + " \"outbox\" with PostgresOutbox");
    }
}
