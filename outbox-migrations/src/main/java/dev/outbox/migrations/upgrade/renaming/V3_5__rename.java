package dev.outbox.migrations.upgrade.renaming;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.internal.FlywayPhase;

/** Takes the tables to {@link Phase#RENAMING}; Flyway finds it by its place and name. */
public final class V3_5__rename extends FlywayPhase {
    public V3_5__rename() {
        super(Phase.RENAMING);
    }
}
