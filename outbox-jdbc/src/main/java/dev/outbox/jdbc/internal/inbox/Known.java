package dev.outbox.jdbc.internal.inbox;

import dev.outbox.Receipt;
import dev.outbox.Receipt.Kind;
import dev.outbox.jdbc.internal.sql.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * What a table knows of a message that arrived, this arrival included.
 *
 * @param conflict whether the table has another message under this id; one whose hash it does not know fits any
 * @param receipts how often the message came; 1 means that it is new
 */
public record Known(boolean conflict, int receipts, Instant firstSeen, Instant lastSeen) {
    /**
     * Adds what a row of the answer says of a message.
     *
     * @param hashes of the messages that were sent
     */
    public static void read(ResultSet row, Map<Identity, byte[]> hashes, Map<Identity, Known> known)
            throws SQLException {
        Identity identity = new Identity(row.getString("source"), row.getString("message_id"));
        byte[] hash = row.getBytes("hash");
        known.put(
                identity,
                new Known(
                        hash != null && !Arrays.equals(hash, hashes.get(identity)),
                        row.getInt("receipt_count"),
                        Timestamps.read(row, "first_seen_on"),
                        Timestamps.read(row, "last_seen_on")));
    }

    /** The hashes of messages that are sent. */
    public static Map<Identity, byte[]> hashes(Collection<Arrival> sent) {
        Map<Identity, byte[]> hashes = new HashMap<>();
        sent.forEach(arrival -> hashes.put(arrival.identity(), arrival.hash()));
        return hashes;
    }

    boolean isFirst() {
        return !conflict && receipts == 1;
    }

    Receipt receipt() {
        Kind kind = conflict ? Kind.CONFLICT : isFirst() ? Kind.FIRST : Kind.DUPLICATE;
        return new Receipt(kind, firstSeen, lastSeen, receipts);
    }
}
