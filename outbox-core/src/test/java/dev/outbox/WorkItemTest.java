package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class WorkItemTest {
    private static final Instant CREATED = Instant.parse("2026-01-01T00:00:00Z");

    @Test
    void itShowsItsMessage() {
        Message message = Message.to("orders.placed")
                .key("k")
                .payload("text")
                .header("a", "1")
                .correlationId("c")
                .tenantId("t")
                .contentType("text/plain");

        WorkItem item = new WorkItem("row-1", 7, 2, CREATED, message);

        assertThat(item.topic()).isEqualTo("orders.placed");
        assertThat(item.key()).isEqualTo("k");
        assertThat(item.payload()).isEqualTo("text");
        assertThat(item.payloadBytes()).asString().isEqualTo("text");
        assertThat(item.headers()).containsExactly(entry("a", "1"));
        assertThat(item.correlationId()).isEqualTo("c");
        assertThat(item.tenantId()).isEqualTo("t");
        assertThat(item.contentType()).isEqualTo("text/plain");
    }

    @Test
    void withoutAContentTypeItHasNone() {
        WorkItem item = new WorkItem(
                "row-1", 7, 2, CREATED, Message.to("t").payload("{}").header("content-type", "text/plain"));

        assertThat(item.contentType())
                .as("a header of that name is only a header")
                .isNull();
    }

    @Test
    void itsMessageIdIsTheCallersOrElseItsOwn() {
        Message message = Message.to("t").payload("p");

        assertThat(new WorkItem("row-1", 1, 1, CREATED, message).messageId()).isEqualTo("row-1");
        assertThat(new WorkItem("row-1", 1, 1, CREATED, message.id("given")).messageId())
                .isEqualTo("given");
    }

    @Test
    void itsPartsMustNotBeNull() {
        Message message = Message.to("t");

        assertThatThrownBy(() -> new WorkItem(null, 1, 1, CREATED, message)).hasMessage("id must not be null");
        assertThatThrownBy(() -> new WorkItem("i", 1, 1, null, message)).hasMessage("createdOn must not be null");
        assertThatThrownBy(() -> new WorkItem("i", 1, 1, CREATED, null)).hasMessage("message must not be null");
    }

    @Test
    void toStringNamesTheItemWithoutItsContent() {
        Message message =
                Message.to("orders.placed").key("k").payload("payload-secret").header("h", "header-secret");

        assertThat(new WorkItem("row-1", 7, 2, CREATED, message))
                .hasToString("WorkItem[id=row-1, topic=orders.placed, key=k, sequence=7, attempt=2]");
    }
}
