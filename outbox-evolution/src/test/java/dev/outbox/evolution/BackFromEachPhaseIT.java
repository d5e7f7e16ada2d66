package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Finding.Concern;
import dev.outbox.migrations.Upgrade;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** From each phase, and from a flip that was begun, there is a way back. */
class BackFromEachPhaseIT extends WithLegacyTables {
    @Test
    void aFlipThatWasBegunIsToldOfAndCanBeTakenBack() throws SQLException {
        for (Phase phase : new Phase[] {Phase.ADDITIVE, Phase.DUAL}) {
            inbox.apply(legacy.dataSource(), phase);
        }
        String flip = inbox.render(legacy.dataSource(), Phase.FLIPPED);
        int checks = flip.indexOf("COMMIT;", flip.indexOf("inbox_finished"));
        legacy.run(flip.substring(0, checks + "COMMIT;".length()));
        String seen = "INSERT INTO inbox ([MessageId], [Source], [Status]) VALUES ('m', 'shop', 'Seen')";

        assertThatThrownBy(() -> legacy.run(seen)).hasMessageContaining("inbox_finished");
        assertThat(inbox.report(legacy.dataSource()).findings())
                .extracting(Finding::concern)
                .containsExactly(Concern.INTERRUPTED);

        inbox.back(legacy.dataSource(), Phase.DUAL);

        legacy.run(seen);
        assertThat(inbox.report(legacy.dataSource()).findings()).isEmpty();
    }

    @Test
    void fromEachPhaseThereIsAWayBack() throws SQLException {
        legacy.run("INSERT INTO outbox ([Topic], [Payload]) VALUES ('t', 'p')");
        legacy.run("INSERT INTO inbox ([MessageId], [Source], [Topic], [Payload]) VALUES ('m', 's', 't', 'p')");
        var before = Catalog.describeWithFamily(legacy.dataSource(), "public", "outbox");
        to(Phase.FLIPPED);
        inbox.apply(legacy.dataSource(), Phase.ADDITIVE);
        inbox.backfill().run(legacy.dataSource());
        inbox.apply(legacy.dataSource(), Phase.DUAL);
        inbox.apply(legacy.dataSource(), Phase.FLIPPED);

        legacy.run("INSERT INTO outbox (work_item_id, topic, payload, message_key)"
                + " VALUES (gen_random_uuid(), 't', 'new', 'k')");
        assertThatThrownBy(() -> outbox.back(legacy.dataSource(), Phase.DUAL))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("1 unfinished messages have a key");
        legacy.run("UPDATE outbox SET message_key = NULL");
        for (Upgrade upgrade : new Upgrade[] {outbox, inbox}) {
            upgrade.back(legacy.dataSource(), Phase.DUAL);
            assertThat(upgrade.report(legacy.dataSource()).problems()).isEmpty();
        }
        legacy.run("UPDATE outbox SET [RetryCount] = 5");
        assertThat(legacy.value("SELECT min(attempt_count) FROM outbox")).isEqualTo("5");
        try (Connection connection = legacy.dataSource().getConnection()) {
            OldInbox old = new OldInbox(legacy.spelling, "inbox");
            assertThat(old.alreadyProcessed(connection, "m", "s", null)).isFalse();
            assertThat(old.alreadyProcessed(connection, "new", "s", null)).isFalse();
        }

        outbox.apply(legacy.dataSource(), Phase.FLIPPED);
        outbox.back(legacy.dataSource(), Phase.DUAL);
        outbox.back(legacy.dataSource(), Phase.ADDITIVE);
        outbox.back(legacy.dataSource(), Phase.LEGACY);
        assertThat(outbox.phase(legacy.dataSource())).isEqualTo(Phase.LEGACY);
        assertThat(legacy.value("SELECT count(*) FROM outbox WHERE [Payload] IN ('p', 'new')"))
                .isEqualTo("2");
        assertThat(Catalog.describeWithFamily(legacy.dataSource(), "public", "outbox"))
                .filteredOn(line -> line.startsWith("column"))
                .extracting(line -> line.replaceAll(" (not null|comment=.*)", ""))
                .isEqualTo(before.stream()
                        .filter(line -> line.startsWith("column"))
                        .map(line -> line.replaceAll(" (not null|comment=.*)", ""))
                        .toList());

        to(Phase.DUAL);
        assertThat(outbox.report(legacy.dataSource()).findings()).isEmpty();
    }
}
