package dev.outbox.evolution;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.jdbc.Phase;
import dev.outbox.testkit.SourceContract;
import dev.outbox.testkit.SourceFixture;
import dev.outbox.testkit.SourceScenario;
import org.junit.jupiter.api.Test;

/** The contract of a source on an outbox in some phase; what the phase refuses is skipped. */
abstract class PhasedOutboxContract extends SourceContract {
    private final PhasedTable table;

    PhasedOutboxContract(Phase phase) {
        this.table = PhasedTable.of(phase);
    }

    @Override
    protected SourceFixture openFixture() {
        return new PhasedOutboxFixture(table);
    }

    @Override
    @Test
    public void aRandomHistoryKeepsEveryPromise(SourceScenario store) {
        assumeTrue(Boolean.getBoolean("outbox.full"), "takes long, so only in profile full");
        super.aRandomHistoryKeepsEveryPromise(store);
    }
}
