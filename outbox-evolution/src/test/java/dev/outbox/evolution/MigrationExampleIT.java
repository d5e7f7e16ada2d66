package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Databases;
import dev.outbox.migrations.Upgrade;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** The code of docs/how-to/migrate-a-legacy-schema.md. */
class MigrationExampleIT {
    @Test
    void oneDatabase() throws Exception {
        try (Legacy legacy = new Legacy(Spelling.PASCAL)) {
            DataSource dataSource = legacy.dataSource();
            upgrade(dataSource);
            assertThat(Upgrade.outbox("outbox").phase(dataSource)).isEqualTo(Phase.DUAL);
        }
    }

    private static void upgrade(DataSource dataSource) {
        Upgrade outbox = Upgrade.outbox("outbox");
        Upgrade inbox = Upgrade.inbox("inbox", "billing");

        System.out.println(outbox.report(dataSource));
        outbox.apply(dataSource, Phase.ADDITIVE);
        outbox.backfill().batch(5_000).maxDeadTuples(1_000_000).run(dataSource);
        outbox.apply(dataSource, Phase.DUAL);

        assertThat(inbox.report(dataSource).next()).isEqualTo(Phase.ADDITIVE);
    }

    @Test
    void manyDatabases() throws Exception {
        try (Legacy first = new Legacy(Spelling.PASCAL);
                Legacy second = new Legacy(Spelling.SNAKE)) {
            upgrade(first.dataSource(), second.dataSource());
            assertThat(Upgrade.inbox("inbox", "billing").phase(second.dataSource()))
                    .isEqualTo(Phase.ADDITIVE);
        }
    }

    private static void upgrade(DataSource acme, DataSource umbrella) {
        Upgrade outbox = Upgrade.outbox("outbox");
        Upgrade inbox = Upgrade.inbox("inbox", "billing");

        Databases tenants = Databases.of(Map.of("acme", acme, "umbrella", umbrella), outbox, inbox);
        tenants.status().forEach(System.out::println);
        tenants.apply(Phase.ADDITIVE);
        tenants.backfill();

        tenants.verify();
    }
}
