package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import com.microsoft.sqlserver.jdbc.SQLServerDataSource;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Databases;
import dev.outbox.migrations.Upgrade;
import dev.outbox.sqlserver.LockWaits;
import dev.outbox.sqlserver.OnServer;
import dev.outbox.sqlserver.Server;
import dev.outbox.sqlserver.SqlServerDatabase;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Several tables in several databases, of which some are not as they should be; on the server given. */
@OnServer(Server.GIVEN)
class SqlServerDatabasesIT {
    private final SqlServerDatabase database = Server.GIVEN.database(Server.Variant.AS_IT_IS);

    private static Upgrade hasty(Upgrade upgrade) {
        return upgrade.refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    }

    @AfterEach
    void drop() {
        for (String table : new String[] {"first", "broken", "inbox_last"}) {
            LegacyOutbox.drop(database, table);
        }
    }

    @Test
    void whatFailsDoesNotStopTheOthers() {
        new LegacyOutbox(database, LegacyOutbox.Spelling.CAMEL, "first");
        new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, "broken");
        database.execute("ALTER TABLE broken DROP COLUMN Topic");
        new LegacyInbox(database, LegacyOutbox.Spelling.SNAKE, "inbox_last").row("m", "Done", 1, null);
        SQLServerDataSource unreachable = new SQLServerDataSource();
        unreachable.setURL("jdbc:sqlserver://localhost:1;loginTimeout=1;connectRetryCount=0");
        Map<String, DataSource> tenants = new LinkedHashMap<>();
        tenants.put("unreachable", unreachable);
        tenants.put("there", ForgivingDataSource.over(database, database.unpooled(LockWaits.MIGRATION)));
        Databases databases = Databases.of(
                tenants,
                hasty(Upgrade.outbox("first")),
                hasty(Upgrade.outbox("broken")),
                hasty(Upgrade.inbox("inbox_last", "billing")));

        Map<String, String> plan = databases.plan();
        assertThat(plan.get("there/first")).contains("ALTER TABLE [dbo].[first]");
        assertThat(plan.get("there/broken"))
                .startsWith("-- there/broken: table \"dbo.broken\" is not ready for phase 1: no column");
        assertThat(plan.get("unreachable/first")).startsWith("-- unreachable/first: cannot read");
        assertThat(databases.apply(Phase.ADDITIVE))
                .extracting(Databases.Result::database, Databases.Result::succeeded)
                .containsExactly(
                        tuple("unreachable", false),
                        tuple("unreachable", false),
                        tuple("unreachable", false),
                        tuple("there", true),
                        tuple("there", false),
                        tuple("there", true));
        databases.backfill();
        assertThat(databases.status())
                .extracting(Object::toString)
                .contains("there/first: phase 1, next phase 2", "there/inbox_last: phase 1, next phase 2");

        assertThatThrownBy(databases::verify)
                .isInstanceOf(OutboxException.class)
                .hasMessageStartingWith("the schema is wrong in 4 places:")
                .hasMessageContaining("\n  there/broken: no column was found for topic");
        tenants.remove("unreachable");
        Databases.of(tenants, hasty(Upgrade.outbox("first"))).verify();
    }
}
