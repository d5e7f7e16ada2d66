package dev.outbox.jdbc.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LayoutTest {
    private static final Layout LAYOUT =
            Layout.of("\"shop\".\"outbox\"", Map.of("status", "\"Status\"", "due_on", "\"$1 \\due\""));

    @Test
    void logicalNamesBecomeThePhysicalOnes() {
        assertThat(LAYOUT.resolve("SELECT {due_on} FROM {table} t WHERE t.{status} = 0 AND {status} < 2")
                        .text())
                .isEqualTo("SELECT \"$1 \\due\" FROM \"shop\".\"outbox\" t WHERE t.\"Status\" = 0 AND \"Status\" < 2");
    }

    @Test
    void whatIsNoLogicalNameStays() {
        assertThat(LAYOUT.resolve("SELECT '{}', '{1,2}', ARRAY['{A}']").text())
                .isEqualTo("SELECT '{}', '{1,2}', ARRAY['{A}']");
    }

    @Test
    void aColumnTheTableDoesNotHaveIsNamed() {
        assertThatThrownBy(() -> LAYOUT.resolve("SELECT {payload} FROM {table}"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the layout of \"shop\".\"outbox\" has no column for payload");
    }

    @Test
    void laterChangesOfTheMapDoNotReachIt() {
        Map<String, String> columns = new HashMap<>(Map.of("status", "s"));
        Layout layout = Layout.of("t", columns);

        columns.put("status", "other");

        assertThat(layout.resolve("{status}").text()).isEqualTo("s");
    }
}
