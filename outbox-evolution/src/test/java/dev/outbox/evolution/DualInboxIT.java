package dev.outbox.evolution;

import dev.outbox.migrations.Phase;

class DualInboxIT extends PhasedInboxContract {
    DualInboxIT() {
        super(Phase.DUAL);
    }
}
