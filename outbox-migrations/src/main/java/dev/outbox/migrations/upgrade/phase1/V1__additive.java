package dev.outbox.migrations.upgrade.phase1;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.internal.FlywayPhase;

/** Takes the tables to {@link Phase#ADDITIVE}; Flyway finds it by its place and name. */
public final class V1__additive extends FlywayPhase {
    public V1__additive() {
        super(Phase.ADDITIVE);
    }
}
