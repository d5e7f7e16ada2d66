package dev.outbox.migrations.upgrade.phase3;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.internal.FlywayPhase;

/** Takes the tables to {@link Phase#FLIPPED}; Flyway finds it by its place and name. */
public final class V3__flip extends FlywayPhase {
    public V3__flip() {
        super(Phase.FLIPPED);
    }
}
