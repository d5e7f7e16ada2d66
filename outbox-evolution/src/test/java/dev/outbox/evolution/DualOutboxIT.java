package dev.outbox.evolution;

import dev.outbox.migrations.Phase;

class DualOutboxIT extends PhasedOutboxContract {
    DualOutboxIT() {
        super(Phase.DUAL);
    }
}
