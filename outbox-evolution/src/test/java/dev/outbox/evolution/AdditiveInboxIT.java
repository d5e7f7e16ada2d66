package dev.outbox.evolution;

import dev.outbox.jdbc.Phase;

class AdditiveInboxIT extends PhasedInboxContract {
    AdditiveInboxIT() {
        super(Phase.ADDITIVE);
    }
}
