package dev.outbox.jdbc.internal.claim;

import dev.outbox.Message;
import dev.outbox.PayloadSerializer;
import dev.outbox.Priority;
import dev.outbox.WorkItem;
import dev.outbox.internal.CoreAccess;
import dev.outbox.internal.HeadersText;
import dev.outbox.jdbc.internal.sql.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** A work item as a row of an answer. */
public final class WorkItemRow {
    public static final String ID = "id";

    /** What a statement that answers work items selects or returns. */
    public static final String COLUMNS = """
            {item_id} AS id, {sequence} AS sequence, {attempt_count} AS attempt_count,
                    {created_on} AS created_on, {due_on} AS due_on, {first_due_on} AS first_due_on, {priority} AS priority, {topic} AS topic,
                    {message_key} AS message_key, {message_id} AS message_id, {source} AS source,
                    {correlation_id} AS correlation_id,
                    {tenant_id} AS tenant_id, {content_type} AS content_type, {headers} AS headers,
                    {payload} AS payload, {payload_bytes} AS payload_bytes""";

    /** What a statement selects or returns that only names work items: no payload and no headers. */
    public static final String NAMING_COLUMNS = """
            {item_id} AS id, {sequence} AS sequence, {attempt_count} AS attempt_count,
                    {created_on} AS created_on, {topic} AS topic, {message_key} AS message_key, {source} AS source""";

    private WorkItemRow() {}

    public static WorkItem read(ResultSet row, @Nullable PayloadSerializer serializer) throws SQLException {
        Message message = Message.to(row.getString("topic"));
        message = with(message, row.getString("message_key"), Message::key);
        message = with(message, row.getString("message_id"), Message::id);
        message = with(message, row.getString("correlation_id"), Message::correlationId);
        message = with(message, row.getString("tenant_id"), Message::tenantId);
        message = with(message, row.getString("content_type"), Message::contentType);
        message = with(message, row.getString("headers"), (m, headers) -> m.headers(HeadersText.read(headers)));
        Instant due = Timestamps.readOptional(row, "due_on");
        message = with(message, due, Message::due);
        message = with(message, row.getString("payload"), Message::payload);
        message = with(message, row.getBytes("payload_bytes"), Message::payload);
        Priority priority = Priority.ofCode(row.getInt("priority"));
        if (priority != Priority.NORMAL) {
            message = message.priority(priority);
        }
        Instant firstDue = Timestamps.readOptional(row, "first_due_on");
        return item(row, firstDue == null ? due : firstDue, CoreAccess.serialized(message, serializer));
    }

    /** Enough of a row to name it, whatever else it holds; without the time it was first due. */
    public static WorkItem named(ResultSet row) throws SQLException {
        String topic = row.getString("topic");
        Message message = Message.to(isName(topic) ? topic : "unreadable").payload("");
        String key = row.getString("message_key");
        return item(row, null, isName(key) ? message.key(key) : message);
    }

    private static boolean isName(@Nullable String text) {
        return text != null && !text.isBlank() && text.length() <= Message.MAX_NAME;
    }

    /**
     * A due time before the message was stored does not make it older.
     *
     * @param firstDue null if it was due at once
     */
    private static WorkItem item(ResultSet row, @Nullable Instant firstDue, Message message) throws SQLException {
        Instant createdOn = Timestamps.read(row, "created_on");
        return new WorkItem(
                row.getString(ID),
                row.getLong("sequence"),
                row.getInt("attempt_count"),
                createdOn,
                firstDue == null || firstDue.isBefore(createdOn) ? createdOn : firstDue,
                row.getString("source"),
                message);
    }

    private static <T> Message with(Message message, @Nullable T value, BiFunction<Message, T, Message> set) {
        return value == null ? message : set.apply(message, value);
    }
}
