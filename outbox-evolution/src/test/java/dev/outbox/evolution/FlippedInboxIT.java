package dev.outbox.evolution;

import dev.outbox.jdbc.Phase;

class FlippedInboxIT extends PhasedInboxContract {
    FlippedInboxIT() {
        super(Phase.FLIPPED);
    }
}
