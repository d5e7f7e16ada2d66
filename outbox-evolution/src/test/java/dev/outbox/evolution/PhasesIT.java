package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.Upgrade;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PhasesIT {
    private static final List<Phase> PHASES =
            List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.RENAMING, Phase.CLEAN);

    private static Upgrade[] upgrades() {
        return new Upgrade[] {
            Upgrade.outbox("outbox").refreshInterval(Duration.ZERO).quietFor(Duration.ZERO),
            Upgrade.inbox("inbox", "billing").refreshInterval(Duration.ZERO).quietFor(Duration.ZERO)
        };
    }

    static Legacy filled(Spelling spelling) throws SQLException {
        Legacy legacy = new Legacy(spelling);
        legacy.run(
                "INSERT INTO outbox ([Topic], [Payload], [CreatedAt]) SELECT 't' || i, 'p', now() - i * interval '1 hour'"
                        + " FROM generate_series(1, 100) i");
        legacy.run(
                "INSERT INTO inbox ([MessageId], [Source], [Topic], [Payload], [Status], [ProcessedUtc]) SELECT 'm' || i,"
                        + " 's', 't', 'p', CASE WHEN i % 2 = 0 THEN 'Done' ELSE 'Seen' END, CASE WHEN i % 2 = 0 THEN now() END"
                        + " FROM generate_series(1, 100) i");
        return legacy;
    }

    static void assertEqualFresh(Legacy legacy) throws SQLException {
        legacy.run("CREATE SCHEMA fresh");
        OutboxMigrations.install(legacy.dataSource(), "fresh.outbox");
        OutboxMigrations.installInbox(legacy.dataSource(), "fresh.inbox");
        for (String table : List.of("outbox", "inbox")) {
            assertThat(Catalog.describeWithFamily(legacy.dataSource(), "public", table))
                    .containsExactlyElementsOf(Catalog.describeWithFamily(legacy.dataSource(), "fresh", table));
        }
        assertThat(legacy.value(
                        "SELECT count(*), min(sequence), max(sequence), count(message_id), min(topic) FROM outbox"))
                .isEqualTo("100,1,100,100,t1");
        assertThat(legacy.value("SELECT topic FROM outbox ORDER BY sequence LIMIT 1"))
                .isEqualTo("t100");
        assertThat(legacy.value(
                        "SELECT count(*) FILTER (WHERE status = 2), count(DISTINCT work_item_id), min(consumer),"
                                + " min(source), count(DISTINCT message_id), max(receipt_count) FROM inbox"))
                .isEqualTo("50,100,billing,s,100,1");
        legacy.run("INSERT INTO outbox (work_item_id, topic, payload) VALUES (gen_random_uuid(), 'after', 'p')");
        assertThat(legacy.value("SELECT sequence >= 1000000 FROM outbox WHERE topic = 'after'"))
                .isEqualTo("t");
    }

    /** The default run takes one spelling this way and another by the plain scripts. */
    static List<Spelling> spellings() {
        return Boolean.getBoolean("outbox.full") ? List.of(Spelling.values()) : List.of(Spelling.PASCAL);
    }

    @ParameterizedTest
    @MethodSource("spellings")
    void aTableThatWentAllTheWayEqualsAFreshlyInstalledOne(Spelling spelling) throws SQLException {
        try (Legacy legacy = filled(spelling)) {
            for (Upgrade upgrade : upgrades()) {
                takeAllTheWay(upgrade, legacy.dataSource());
            }
            assertEqualFresh(legacy);
        }
    }

    private static void takeAllTheWay(Upgrade upgrade, DataSource dataSource) {
        for (Phase phase : PHASES) {
            upgrade.apply(dataSource, phase);
            upgrade.apply(dataSource, phase);
            assertThat(upgrade.report(dataSource).problems()).isEmpty();
            if (phase == Phase.ADDITIVE) {
                assertThat(upgrade.backfill().run(dataSource)).isEqualTo(100);
            }
        }
        assertThat(upgrade.phase(dataSource)).isEqualTo(Phase.CLEAN);
        assertThat(upgrade.report(dataSource).findings()).isEmpty();
    }

    /** As psql does: statement by statement, each a transaction of its own unless the script says otherwise. */
    @Test
    void thePlainScriptsAloneDoTheSame() throws SQLException {
        try (Legacy legacy = filled(Spelling.SNAKE);
                Connection connection = legacy.dataSource().getConnection()) {
            for (Upgrade upgrade : upgrades()) {
                for (Phase phase : PHASES) {
                    String script = upgrade.render(legacy.dataSource(), phase);
                    run(connection, script);
                    if (phase == Phase.ADDITIVE) {
                        run(connection, upgrade.backfill().render(legacy.dataSource()));
                    }
                    if (phase != Phase.RENAMING) {
                        run(connection, script);
                    }
                }
            }
            assertEqualFresh(legacy);
        }
    }

    static void run(Connection connection, String script) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            int from = 0;
            for (int end = end(script, 0); end >= 0; end = end(script, from)) {
                statement.execute(script.substring(from, end));
                from = end + 1;
            }
        }
    }

    /** The next semicolon that is not inside of a quoted block. */
    private static int end(String script, int from) {
        Matcher matcher = Pattern.compile("\\$\\w*\\$|;\n").matcher(script);
        String quote = null;
        for (int at = from; matcher.find(at); at = matcher.end()) {
            if (quote == null && matcher.group().equals(";\n")) {
                return matcher.start();
            }
            quote = quote == null ? matcher.group() : matcher.group().equals(quote) ? null : quote;
        }
        return -1;
    }
}
