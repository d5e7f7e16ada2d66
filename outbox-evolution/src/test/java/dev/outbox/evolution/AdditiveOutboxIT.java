package dev.outbox.evolution;

import dev.outbox.migrations.Phase;

class AdditiveOutboxIT extends PhasedOutboxContract {
    AdditiveOutboxIT() {
        super(Phase.ADDITIVE);
    }
}
