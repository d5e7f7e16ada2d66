package dev.outbox.cli;

import dev.outbox.admin.Item;
import dev.outbox.admin.ItemDetail;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Work items for people. */
final class ItemText {
    private static final int SHORT_ERROR = 80;

    private ItemText() {}

    static TextTable table(List<Item> items) {
        TextTable table = new TextTable("ITEM", "STATUS", "TOPIC", "KEY", "ATTEMPTS", "CREATED", "ENDED", "ERROR");
        items.forEach(item -> table.row(
                item.ref(),
                status(item),
                item.topic(),
                item.key(),
                item.attempts(),
                time(item.createdOn()),
                time(item.processedOn()),
                shortened(item.error())));
        return table;
    }

    static TextTable detail(ItemDetail detail) {
        Item item = detail.item();
        TextTable table = new TextTable("ITEM", item.ref().toString())
                .row("status", status(item))
                .row("topic", item.topic())
                .row("key", item.key())
                .row("message id", item.messageId())
                .row("correlation id", item.correlationId())
                .row("tenant", item.tenantId())
                .row("consumer", item.consumer())
                .row("source", item.source())
                .row("sequence", item.sequence())
                .row("attempts", item.attempts())
                .row("created", time(item.createdOn()))
                .row("due", time(item.dueOn()))
                .row("ended", time(item.processedOn()))
                .row("last poller", item.processedBy())
                .row("content type", detail.contentType())
                .row("last error", item.error());
        new TreeMap<>(detail.headers()).forEach((name, value) -> table.row("header " + name, value));
        return table;
    }

    private static String status(Item item) {
        String status = item.status().name().toLowerCase(Locale.ROOT);
        return item.blocksKey() ? status + ", blocks its key" : status;
    }

    private static @Nullable String time(@Nullable Instant instant) {
        return instant == null ? null : instant.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static @Nullable String shortened(@Nullable String error) {
        return error == null || error.length() <= SHORT_ERROR ? error : error.substring(0, SHORT_ERROR) + "...";
    }
}
