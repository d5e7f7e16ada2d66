package dev.outbox.jdbc.internal.inbox;

import dev.outbox.InboxRecord;
import dev.outbox.Status;
import dev.outbox.jdbc.internal.sql.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** Reads a record of an inbox, and says why it cannot be requeued. */
final class RecordRow {
    private RecordRow() {}

    static InboxRecord read(ResultSet row, Identity identity) throws SQLException {
        return new InboxRecord(
                identity.source(),
                identity.messageId(),
                row.getString("topic"),
                Status.ofCode(row.getInt("status")),
                row.getInt("attempt_count"),
                row.getInt("receipt_count"),
                Timestamps.read(row, "first_seen_on"),
                Timestamps.read(row, "last_seen_on"),
                Timestamps.readOptional(row, "processed_on"),
                row.getString("last_error"));
    }

    /** Why it cannot be requeued, if the retention is this long. */
    static String obstacle(InboxRecord record, Duration window) {
        if (record.status() != Status.DEAD) {
            return "it is not Dead, but " + record.status();
        }
        if (record.topic() == null) {
            return "it was received, not enqueued, so no handler would take it; forceRequeue(...) removes its record, so that"
                    + " the message is new when it is sent again";
        }
        return "it came on " + record.firstSeen() + ", longer ago than the retention of " + window
                + ", so that other consumers may no longer recognise the messages that follow from it; use forceRequeue(...)"
                + " if you know that this is harmless";
    }
}
