package dev.outbox.admin.internal.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.jdbc.internal.catalog.TableName;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SqlServerDialectTest {
    private final Map<String, Column> columns = new LinkedHashMap<>();

    private void column(String name, boolean computed) {
        columns.put(
                name,
                new Column(
                        name, "nvarchar", "nvarchar(255)", 255, null, true, false, computed, false, true, null, null));
    }

    private Optional<String> spelling(String column) {
        FoundTable table = new FoundTable(
                TableName.parse("dbo.outbox"),
                TableKind.OUTBOX,
                Phase.FLIPPED,
                true,
                Optional.empty(),
                Optional.empty(),
                columns,
                Map.of());
        return new SqlServerDialect().spelling(table, column);
    }

    @Test
    void aColumnIsFoundInAnySpelling() {
        column("WorkItemId", false);

        assertThat(spelling("work_item_id")).contains("WorkItemId");
        assertThat(spelling("message_key")).isEmpty();
    }

    @Test
    void anAliasInAnotherSpellingIsNotASecondColumn() {
        column("LastError", false);
        column("last_error", true);

        assertThat(spelling("last_error")).contains("LastError");
    }

    @Test
    void aColumnThatIsOnlyComputedCounts() {
        column("ExactKey", true);

        assertThat(spelling("exact_key")).contains("ExactKey");
    }
}
