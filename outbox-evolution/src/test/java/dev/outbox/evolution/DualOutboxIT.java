package dev.outbox.evolution;

import dev.outbox.jdbc.Phase;

class DualOutboxIT extends PhasedOutboxContract {
    DualOutboxIT() {
        super(Phase.DUAL);
    }
}
