package dev.outbox.evolution;

import dev.outbox.migrations.Phase;

class LegacyOutboxIT extends PhasedOutboxContract {
    LegacyOutboxIT() {
        super(Phase.LEGACY);
    }
}
