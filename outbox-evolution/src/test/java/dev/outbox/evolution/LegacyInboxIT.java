package dev.outbox.evolution;

import dev.outbox.jdbc.Phase;

class LegacyInboxIT extends PhasedInboxContract {
    LegacyInboxIT() {
        super(Phase.LEGACY);
    }
}
