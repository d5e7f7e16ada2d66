package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.Priority;
import dev.outbox.jdbc.Phase;
import dev.outbox.postgres.PostgresInbox;
import dev.outbox.postgres.PostgresOutbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table phase × capability: refused at the call before the phase that has it, and taken from there on. */
class CapabilitiesIT {
    private static final Message MESSAGE = Message.to("orders").payload("p");
    private static final Incoming INCOMING =
            Incoming.from("shop", "m-1").topic("orders").payload("p");

    @ParameterizedTest
    @EnumSource(names = {"LEGACY", "ADDITIVE", "DUAL", "FLIPPED"})
    void anOutboxRefusesWhatItsPhaseLacks(Phase phase) throws SQLException {
        PhasedTable table = emptied(phase);
        Outbox outbox = PostgresOutbox.create(table.pool());
        Map<Message, Phase> from = Map.of(
                MESSAGE.correlationId("c").id("0190a1b2-0000-7000-8000-000000000001"),
                Phase.LEGACY,
                MESSAGE.header("h", "v"),
                Phase.DUAL,
                MESSAGE.contentType("application/json"),
                Phase.DUAL,
                MESSAGE.tenantId("t"),
                Phase.DUAL,
                MESSAGE.priority(Priority.HIGH),
                Phase.DUAL,
                MESSAGE.key("k"),
                Phase.FLIPPED,
                Message.to("orders").payload(new byte[] {0}),
                Phase.FLIPPED,
                MESSAGE.id("order-4711"),
                Phase.FLIPPED);
        for (Map.Entry<Message, Phase> one : from.entrySet()) {
            check(table, phase, one.getValue(), "outbox", tx -> outbox.enqueue(tx, one.getKey()));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LEGACY", "ADDITIVE", "DUAL", "FLIPPED"})
    void anInboxRefusesWhatItsPhaseLacks(Phase phase) throws SQLException {
        PhasedTable table = emptied(phase);
        Inbox inbox = PostgresInbox.builder(table.pool())
                .consumer(PhasedTable.CONSUMER)
                .build();
        Map<Incoming, Phase> from = Map.of(
                INCOMING,
                Phase.LEGACY,
                INCOMING.correlationId("c"),
                Phase.DUAL,
                INCOMING.headers(Map.of("h", "v")),
                Phase.DUAL,
                INCOMING.contentType("application/json"),
                Phase.DUAL,
                INCOMING.tenantId("t"),
                Phase.DUAL,
                INCOMING.priority(Priority.BULK),
                Phase.DUAL,
                INCOMING.key("k"),
                Phase.FLIPPED,
                Incoming.from("shop", "m-1").topic("orders").payload(new byte[] {0}),
                Phase.FLIPPED);
        for (Map.Entry<Incoming, Phase> one : from.entrySet()) {
            check(table, phase, one.getValue(), "inbox", tx -> inbox.enqueue(tx, one.getKey()));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LEGACY", "ADDITIVE", "DUAL", "FLIPPED"})
    void theSameIdOfAnotherSourceIsNeitherADuplicateNorProcessed(Phase phase) throws SQLException {
        PhasedTable table = emptied(phase);
        Inbox inbox = PostgresInbox.builder(table.pool())
                .consumer(PhasedTable.CONSUMER)
                .build();
        check(table, phase, Phase.FLIPPED, "inbox", tx -> {
            assertThat(inbox.receive(tx, Incoming.from("shop", "m-2").payload("p"))
                            .isFirst())
                    .isTrue();
            assertThat(inbox.receive(tx, Incoming.from("warehouse", "m-2").payload("p"))
                            .isFirst())
                    .isTrue();
        });
    }

    /** Others may have left their rows in it. */
    private static PhasedTable emptied(Phase phase) {
        PhasedTable table = PhasedTable.of(phase);
        table.execute("TRUNCATE outbox, inbox");
        return table;
    }

    private interface Call {
        void in(Connection tx) throws SQLException;
    }

    private static void check(PhasedTable table, Phase phase, Phase from, String name, Call call) throws SQLException {
        try (Connection tx = table.pool().getConnection()) {
            tx.setAutoCommit(false);
            ThrowingCallable enqueue = () -> call.in(tx);
            if (phase.compareTo(from) < 0) {
                assertThatThrownBy(enqueue)
                        .isInstanceOf(OutboxException.class)
                        .hasMessageMatching(
                                "the schema must be in " + from + " for .*, but table \"public." + name + "\" is in "
                                        + phase + "; do without it, or apply the migrations up to that phase first");
            } else {
                call.in(tx);
            }
            tx.rollback();
            tx.setAutoCommit(true);
        }
    }
}
