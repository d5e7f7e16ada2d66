package dev.outbox.evolution;

import dev.outbox.migrations.Phase;

class LegacyInboxIT extends PhasedInboxContract {
    LegacyInboxIT() {
        super(Phase.LEGACY);
    }
}
