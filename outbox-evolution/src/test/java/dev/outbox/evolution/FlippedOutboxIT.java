package dev.outbox.evolution;

import dev.outbox.jdbc.Phase;

class FlippedOutboxIT extends PhasedOutboxContract {
    FlippedOutboxIT() {
        super(Phase.FLIPPED);
    }
}
