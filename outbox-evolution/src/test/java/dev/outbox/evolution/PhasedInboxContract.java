package dev.outbox.evolution;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.jdbc.Phase;
import dev.outbox.testkit.InboxContract;
import dev.outbox.testkit.InboxFixture;
import dev.outbox.testkit.InboxScenario;
import org.junit.jupiter.api.Test;

/** The contract of an inbox in some phase; what the phase refuses is skipped. */
abstract class PhasedInboxContract extends InboxContract {
    private final PhasedTable table;

    PhasedInboxContract(Phase phase) {
        this.table = PhasedTable.of(phase);
    }

    @Override
    protected InboxFixture openFixture() {
        return new PhasedInboxFixture(table);
    }

    @Override
    @Test
    public void sixteenSendersOfTheSameMessagesHaveEachEffectOnce(InboxScenario scenario) throws Exception {
        assumeTrue(Boolean.getBoolean("outbox.full"), "takes long, so only in profile full");
        super.sixteenSendersOfTheSameMessagesHaveEachEffectOnce(scenario);
    }
}
