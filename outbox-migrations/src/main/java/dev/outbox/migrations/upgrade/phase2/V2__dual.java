package dev.outbox.migrations.upgrade.phase2;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.internal.FlywayPhase;

/** Takes the tables to {@link Phase#DUAL}; Flyway finds it by its place and name. */
public final class V2__dual extends FlywayPhase {
    public V2__dual() {
        super(Phase.DUAL);
    }
}
