package dev.outbox.jdbc.internal.catalog;

import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.Priority;
import dev.outbox.jdbc.Phase;
import java.util.UUID;

/**
 * What a message may ask of a table only from some {@link Phase} on, because before it there is no column for it, or
 * somebody may still read the table who would not heed it.
 */
public enum Capability {
    HEADERS("headers", Phase.DUAL),
    CONTENT_TYPE("a content type", Phase.DUAL),
    TENANT("a tenant", Phase.DUAL),
    PRIORITY("a priority", Phase.DUAL),
    /** An outbox always had a column for it. */
    INBOX_CORRELATION("a correlation id in an inbox", Phase.DUAL),
    /** Who claims by old predicates knows no keys. */
    KEY("a key", Phase.FLIPPED),
    BINARY_PAYLOAD("a binary payload", Phase.FLIPPED),
    /** The old column of the message id is a UUID. */
    ANY_MESSAGE_ID("a message id that is no UUID", Phase.FLIPPED),
    /** Before it the message id alone is the key of the table. */
    MANY_SOURCES("the same message id from several sources or for several consumers", Phase.FLIPPED),
    /** An inbox of SQL Server is claimed by its old status until the flip. */
    SQLSERVER_INBOX_PRIORITY("a priority", Phase.FLIPPED),
    /** In an outbox of SQL Server, whose old column may be unique and then takes no more than one null. */
    SQLSERVER_ANY_MESSAGE_ID(ANY_MESSAGE_ID.what, Phase.CLEAN),
    /** SQL Server would rewrite the table to replace its key, so that comes last. */
    SQLSERVER_MANY_SOURCES(MANY_SOURCES.what, Phase.CLEAN);

    private final String what;
    private final Phase from;

    Capability(String what, Phase from) {
        this.what = what;
        this.from = from;
    }

    /** As an error names it. */
    public String what() {
        return what;
    }

    /** The first phase that has it. */
    public Phase from() {
        return from;
    }

    /** Refuses a message for an outbox that asks for what the phase lacks. */
    public static void checkOutbox(Message message, TableName table, Phase phase) {
        ANY_MESSAGE_ID.check(hasOtherId(message), table, phase);
        check(message, table, phase);
    }

    /** {@link #checkOutbox} on SQL Server. */
    public static void checkSqlServerOutbox(Message message, TableName table, Phase phase) {
        SQLSERVER_ANY_MESSAGE_ID.check(hasOtherId(message), table, phase);
        check(message, table, phase);
    }

    /** Refuses a message for an inbox that asks for what the phase lacks. */
    public static void checkInbox(Message message, TableName table, Phase phase) {
        INBOX_CORRELATION.check(message.correlationId() != null, table, phase);
        check(message, table, phase);
    }

    /** {@link #checkInbox} on SQL Server. */
    public static void checkSqlServerInbox(Message message, TableName table, Phase phase) {
        SQLSERVER_INBOX_PRIORITY.check(message.priority() != Priority.NORMAL, table, phase);
        checkInbox(message, table, phase);
    }

    private static void check(Message message, TableName table, Phase phase) {
        HEADERS.check(!message.headers().isEmpty(), table, phase);
        CONTENT_TYPE.check(message.contentType() != null, table, phase);
        TENANT.check(message.tenantId() != null, table, phase);
        PRIORITY.check(message.priority() != Priority.NORMAL, table, phase);
        KEY.check(message.key() != null, table, phase);
        BINARY_PAYLOAD.check(message.isBinary(), table, phase);
    }

    private void check(boolean wanted, TableName table, Phase phase) {
        if (wanted && phase.before(from)) {
            throw refusal(table, phase);
        }
    }

    /** What to throw where it is asked for in a phase that lacks it. */
    public OutboxException refusal(TableName table, Phase phase) {
        return new OutboxException("the schema must be in " + from + " for " + what + ", but table \"" + table
                + "\" is in " + phase + "; do without it, or apply the migrations up to that phase first");
    }

    private static boolean hasOtherId(Message message) {
        return message.id() != null && !isUuid(message.id());
    }

    private static boolean isUuid(String text) {
        try {
            return UUID.fromString(text).toString().equals(text);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
