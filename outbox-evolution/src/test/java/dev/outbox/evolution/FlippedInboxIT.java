package dev.outbox.evolution;

import dev.outbox.migrations.Phase;

class FlippedInboxIT extends PhasedInboxContract {
    FlippedInboxIT() {
        super(Phase.FLIPPED);
    }
}
