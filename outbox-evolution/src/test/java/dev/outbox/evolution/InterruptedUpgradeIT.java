package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.postgres.PostgresInbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;

/** A step that was killed at any of its statements is repeated, and the end is the same. */
class InterruptedUpgradeIT {
    private static final boolean FULL = Boolean.getBoolean("outbox.full");

    private static final Upgrade INBOX = hasty(Upgrade.inbox("inbox", "billing"));
    private static final Upgrade OUTBOX = hasty(Upgrade.outbox("outbox"));

    private static Upgrade hasty(Upgrade upgrade) {
        return upgrade.refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    }

    /**
     * The default run kills the renaming at each statement, and the clean-up at some, of the table that has most of them, and
     * an outbox's flip, which builds its key.
     */
    private static int every(Upgrade upgrade, Phase phase) {
        return FULL || phase == (upgrade == INBOX ? Phase.RENAMING : Phase.FLIPPED)
                ? 1
                : upgrade == INBOX && phase == Phase.CLEAN ? 5 : 0;
    }

    private static void killedAt(int every, Legacy legacy, Upgrade upgrade, Phase phase) throws SQLException {
        for (int at = every; ; at += every) {
            Killed killed = new Killed(legacy.dataSource(), at, "execute"::equals);
            try {
                upgrade.apply(killed.dataSource(), phase);
            } catch (OutboxException e) {
                assertThat(killed.wasKilled()).as("%s at %d: %s", phase, at, e).isTrue();
                assertThat(e).hasMessageContaining("killed"); // and not by what failed after that
            }
            assertThat(receives(legacy, upgrade.table() + " " + phase + " " + at))
                    .isTrue();
            if (!killed.wasKilled()) {
                assertThat(at).isGreaterThan(5);
                return;
            }
        }
    }

    /** A node that starts just now finds a table that it can work with. */
    private static boolean receives(Legacy legacy, String messageId) throws SQLException {
        Inbox inbox = PostgresInbox.builder(legacy.dataSource())
                .consumer("billing")
                .refreshInterval(Duration.ofMinutes(1))
                .build();
        try (Connection tx = legacy.dataSource().getConnection()) {
            tx.setAutoCommit(false);
            boolean first = inbox.receive(tx, Incoming.from("shop", messageId).payload("p"))
                    .isFirst();
            tx.commit();
            return first;
        }
    }

    @Test
    void aStepThatWasKilledAtAnyStatementCanBeRepeated() throws SQLException {
        try (Legacy legacy = PhasesIT.filled(Spelling.SNAKE)) {
            for (Upgrade upgrade : new Upgrade[] {INBOX, OUTBOX}) {
                for (Phase phase : EnumSet.range(Phase.ADDITIVE, Phase.CLEAN)) {
                    int every = every(upgrade, phase);
                    if (every > 0) {
                        killedAt(every, legacy, upgrade, phase);
                    } else {
                        upgrade.apply(legacy.dataSource(), phase);
                    }
                    if (phase == Phase.ADDITIVE) {
                        upgrade.backfill().run(legacy.dataSource());
                    }
                }
            }
            legacy.run("DELETE FROM inbox WHERE source = 'shop'");
            PhasesIT.assertEqualFresh(legacy);
        }
    }

    @Test
    void fromATableThatHasBegunItsRenamingThereIsNoWayBack() throws SQLException {
        try (Legacy legacy = PhasesIT.filled(Spelling.SNAKE)) {
            for (Phase phase : EnumSet.range(Phase.ADDITIVE, Phase.FLIPPED)) {
                INBOX.apply(legacy.dataSource(), phase);
                INBOX.backfill().run(legacy.dataSource());
            }
            String renaming = INBOX.render(legacy.dataSource(), Phase.RENAMING);
            int checked = renaming.indexOf("COMMIT;") + 7;
            String half = renaming.substring(0, renaming.indexOf("COMMIT;", checked) + 7);
            legacy.run(half);
            assertThat(INBOX.phase(legacy.dataSource())).isEqualTo(Phase.FLIPPED);

            assertThatThrownBy(() -> INBOX.back(legacy.dataSource(), Phase.DUAL))
                    .isInstanceOf(OutboxException.class)
                    .hasMessage(
                            "table \"public.inbox\" has begun its renaming and cannot go to phase 2, because its old columns"
                                    + " are gone; its next is phase 3 renaming");
            assertThatThrownBy(() -> INBOX.apply(legacy.dataSource(), Phase.FLIPPED))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("has begun its renaming");
            assertThatThrownBy(() -> legacy.run(half))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("its renaming has begun already; render this script again");
            assertThat(receives(legacy, "half")).isTrue();

            INBOX.apply(legacy.dataSource(), Phase.RENAMING);
            INBOX.apply(legacy.dataSource(), Phase.CLEAN);
            assertThat(INBOX.report(legacy.dataSource()).findings()).isEmpty();
        }
    }
}
