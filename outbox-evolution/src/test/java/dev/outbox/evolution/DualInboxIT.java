package dev.outbox.evolution;

import dev.outbox.jdbc.Phase;

class DualInboxIT extends PhasedInboxContract {
    DualInboxIT() {
        super(Phase.DUAL);
    }
}
