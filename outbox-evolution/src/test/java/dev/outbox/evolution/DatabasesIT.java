package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Databases;
import dev.outbox.migrations.Upgrade;
import java.sql.Connection;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

class DatabasesIT {
    /** Pools throw what they like. */
    private static DataSource odd() {
        return new PGSimpleDataSource() {
            private static final long serialVersionUID = 1L;

            @Override
            public Connection getConnection() {
                throw new IllegalStateException("no pool");
            }
        };
    }

    @Test
    void aTenantThatFailsDoesNotStopTheOthers() throws Exception {
        Upgrade upgrade =
                Upgrade.outbox("outbox").refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
        try (Legacy first = new Legacy(Spelling.PASCAL);
                Legacy ahead = new Legacy(Spelling.SNAKE);
                Legacy broken = new Legacy(Spelling.CAMEL);
                Legacy last = new Legacy(Spelling.CAMEL)) {
            upgrade.apply(ahead.dataSource(), Phase.ADDITIVE);
            upgrade.apply(ahead.dataSource(), Phase.DUAL);
            broken.run("ALTER TABLE outbox DROP COLUMN topic");
            last.run("INSERT INTO outbox (topic, payload) VALUES ('t', 'p')");
            PGSimpleDataSource unreachable = new PGSimpleDataSource();
            unreachable.setUrl("jdbc:postgresql://localhost:1/none");
            Map<String, DataSource> tenants = new LinkedHashMap<>();
            tenants.put("first", first.dataSource());
            tenants.put("unreachable", unreachable);
            tenants.put("odd", odd());
            tenants.put("ahead", ahead.dataSource());
            tenants.put("broken", broken.dataSource());
            tenants.put("last", last.dataSource());
            Databases databases = Databases.of(tenants, upgrade);

            assertThat(databases.plan().get("first/outbox")).contains("ALTER TABLE \"public\".\"outbox\"");
            assertThat(databases.plan().get("unreachable/outbox")).startsWith("-- unreachable/outbox: cannot read");
            assertThat(databases.plan().get("odd/outbox"))
                    .isEqualTo("-- odd/outbox: java.lang.IllegalStateException: no pool");
            assertThat(databases.plan().get("broken/outbox"))
                    .startsWith("-- broken/outbox: table \"public.outbox\" is not ready for phase 1: no column");
            assertThat(databases.apply(Phase.ADDITIVE))
                    .extracting(Databases.Result::database, Databases.Result::succeeded)
                    .containsExactly(
                            tuple("first", true),
                            tuple("unreachable", false),
                            tuple("odd", false),
                            tuple("ahead", true),
                            tuple("broken", false),
                            tuple("last", true));
            assertThat(databases.status())
                    .extracting(Object::toString)
                    .contains("first/outbox: phase 1, next phase 2", "ahead/outbox: phase 2, next phase 3")
                    .anyMatch(
                            line -> line.matches("last/outbox: phase 1, next phase 2, in the way: .*1 rows are not.*"));
            assertThat(databases.backfill().get(5).toString()).isEqualTo("last/outbox: phase 1, next phase 2");

            assertThatThrownBy(databases::verify)
                    .isInstanceOf(OutboxException.class)
                    .hasMessageStartingWith("the schema is wrong in 3 places:\n  unreachable/outbox: cannot read table")
                    .hasMessageContaining("\n  broken/outbox: no column was found for topic");
            tenants.remove("unreachable");
            tenants.remove("odd");
            tenants.remove("broken");
            Databases.of(tenants, upgrade).verify();
        }
    }
}
