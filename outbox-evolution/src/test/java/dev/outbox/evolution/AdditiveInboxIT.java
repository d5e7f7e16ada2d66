package dev.outbox.evolution;

import dev.outbox.migrations.Phase;

class AdditiveInboxIT extends PhasedInboxContract {
    AdditiveInboxIT() {
        super(Phase.ADDITIVE);
    }
}
