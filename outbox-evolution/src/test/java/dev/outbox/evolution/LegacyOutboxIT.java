package dev.outbox.evolution;

import dev.outbox.jdbc.Phase;

class LegacyOutboxIT extends PhasedOutboxContract {
    LegacyOutboxIT() {
        super(Phase.LEGACY);
    }
}
