package dev.outbox.testkit;

import java.util.List;
import java.util.stream.Collectors;

/** Rows as readable text, without payloads and headers. */
final class RowsText {
    private static final int MOST = 50;

    private RowsText() {}

    static String of(List<ItemRow> found, List<ItemRow> all) {
        return "found:" + lines(found) + "\nThe outbox has " + all.size() + " rows.";
    }

    static String of(List<ItemRow> rows) {
        return rows.isEmpty() ? "The outbox is empty." : "The outbox has:" + lines(rows);
    }

    private static String lines(List<ItemRow> rows) {
        String lines = rows.stream().limit(MOST).map(RowsText::line).collect(Collectors.joining());
        return rows.size() <= MOST ? lines : lines + "\n  … and " + (rows.size() - MOST) + " more";
    }

    private static String line(ItemRow row) {
        return "\n  " + row.sequence() + "  " + row.messageId() + "  to " + row.topic()
                + (row.key() == null ? "" : "  key " + row.key()) + "  " + row.status() + "  attempts " + row.attempts()
                + (row.lastError() == null ? "" : "  " + row.lastError());
    }
}
