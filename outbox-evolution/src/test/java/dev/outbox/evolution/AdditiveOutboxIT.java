package dev.outbox.evolution;

import dev.outbox.jdbc.Phase;

class AdditiveOutboxIT extends PhasedOutboxContract {
    AdditiveOutboxIT() {
        super(Phase.ADDITIVE);
    }
}
