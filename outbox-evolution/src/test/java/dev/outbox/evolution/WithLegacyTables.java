package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Finding.Concern;
import dev.outbox.migrations.Upgrade;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A test of two legacy tables and their upgrades, which wait for nothing. */
abstract class WithLegacyTables {
    Legacy legacy;
    final Upgrade outbox =
            Upgrade.outbox("outbox").refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    final Upgrade inbox =
            Upgrade.inbox("inbox", "billing").refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);

    @BeforeEach
    void create() throws SQLException {
        legacy = new Legacy(Spelling.PASCAL);
    }

    @AfterEach
    void close() {
        legacy.close();
    }

    void to(Phase phase) {
        for (Phase next : new Phase[] {Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED}) {
            if (next.compareTo(phase) <= 0) {
                outbox.apply(legacy.dataSource(), next);
                outbox.backfill().run(legacy.dataSource());
            }
        }
    }

    void assertRefused(Phase phase, Upgrade upgrade, String... reasons) {
        assertThatThrownBy(() -> upgrade.apply(legacy.dataSource(), phase))
                .isInstanceOf(OutboxException.class)
                .hasMessageContainingAll(reasons);
    }

    /** The leading check of the plain script, for those who run it without the report. */
    void assertScriptRefused(Phase phase, Upgrade upgrade, String reason) {
        String script = upgrade.render(legacy.dataSource(), phase);
        assertThatThrownBy(() -> legacy.run(script.substring(0, script.indexOf("COMMIT;"))))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining(reason);
    }

    Finding only(Concern concern) {
        return outbox.report(legacy.dataSource()).findings().stream()
                .filter(finding -> finding.concern() == concern)
                .reduce((one, other) -> {
                    throw new AssertionError(one + " and " + other);
                })
                .orElseThrow();
    }
}
