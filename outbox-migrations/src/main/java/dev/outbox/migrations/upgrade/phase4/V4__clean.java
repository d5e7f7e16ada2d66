package dev.outbox.migrations.upgrade.phase4;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.internal.FlywayPhase;

/** Takes the tables to {@link Phase#CLEAN}; Flyway finds it by its place and name. */
public final class V4__clean extends FlywayPhase {
    public V4__clean() {
        super(Phase.CLEAN);
    }
}
