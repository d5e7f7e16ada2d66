package dev.outbox.sqlserver;

import static dev.outbox.testkit.InboxScenario.incoming;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Inbox;
import dev.outbox.Receipt.Kind;
import dev.outbox.testkit.InboxContract;
import dev.outbox.testkit.InboxScenario;
import java.sql.Connection;
import org.junit.jupiter.api.Test;

/**
 * The contract of an inbox, but for two isolation levels: SQL Server keeps them by locks and not by versions, so that a
 * message that came in the meantime is seen as what it is, a duplicate, and nobody has to try again.
 */
public abstract class SqlServerInboxContract extends InboxContract {
    @Test
    @Override
    public void aRivalUnderRepeatableReadIsToldToTryAgain(InboxScenario scenario) throws Exception {
        isADuplicateUnder(Connection.TRANSACTION_REPEATABLE_READ, scenario);
    }

    @Test
    @Override
    public void aRivalUnderSerializableIsToldToTryAgain(InboxScenario scenario) throws Exception {
        isADuplicateUnder(Connection.TRANSACTION_SERIALIZABLE, scenario);
    }

    private static void isADuplicateUnder(int isolation, InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        scenario.receive(inbox, incoming("m-1"));
        try (Connection tx = scenario.begin()) {
            int before = tx.getTransactionIsolation();
            tx.rollback();
            tx.setTransactionIsolation(isolation);
            assertThat(scenario.receive(tx, inbox, incoming("another")).kind()).isEqualTo(Kind.FIRST);
            assertThat(scenario.receive(tx, inbox, incoming("m-1")).kind()).isEqualTo(Kind.DUPLICATE);
            tx.commit();
            tx.setTransactionIsolation(before);
            tx.rollback();
            tx.setAutoCommit(true);
        }
        assertThat(scenario.effects()).containsExactlyInAnyOrder("m-1", "another");
    }
}
