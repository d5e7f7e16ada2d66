package dev.outbox.jdbc.internal.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ColumnNamesTest {
    @ParameterizedTest
    @ValueSource(strings = {"CreatedAt", "created_at", "createdAt", "CREATED_AT"})
    void aColumnIsFoundInAnySpelling(String spelling) {
        ColumnNames names = new ColumnNames("shop.outbox", List.of("Id", spelling));

        assertThat(names.like(List.of("created_at"), null)).contains(spelling);
        assertThat(names.like(List.of("other", "created_at"), null)).contains(spelling);
        assertThat(names.like(List.of("created_on"), null)).isEmpty();
    }

    @Test
    void theNewColumnIsNotTakenForTheOldOne() {
        ColumnNames names = new ColumnNames("shop.outbox", List.of("Status", "status"));

        assertThat(names.like(List.of("status"), "status")).contains("Status");
    }

    @Test
    void twoCandidatesAreNamed() {
        ColumnNames names = new ColumnNames("shop.outbox", List.of("DueTime", "due_time_utc", "DueTimeUtc"));

        assertThatThrownBy(() -> names.like(List.of("due_time_utc"), null))
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"shop.outbox\" has more than one column for due_time_utc: DueTimeUtc, due_time_utc;"
                        + " rename or drop all but one");
    }
}
