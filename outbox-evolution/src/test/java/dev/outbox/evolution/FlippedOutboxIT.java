package dev.outbox.evolution;

import dev.outbox.migrations.Phase;

class FlippedOutboxIT extends PhasedOutboxContract {
    FlippedOutboxIT() {
        super(Phase.FLIPPED);
    }
}
