package dev.outbox;

/**
 * Encodes the objects that an application sends into payloads, and decodes them. You give one to an outbox when you build
 * it: {@code PostgresOutbox.builder(...).serializer(...)}. {@code outbox-jackson} has one for JSON.
 *
 * <p>Both sides agree on <em>type names</em>, such as {@code orders.placed.v1}, which travel in the header
 * {@value #TYPE_HEADER}. An implementation maps them to classes by a list of its own and never puts a class
 * name on the wire, nor loads a class because a message names it.
 *
 * <p>Must be thread-safe: one instance serves every caller and every poller of an outbox.
 */
public interface PayloadSerializer {
    /** The header that carries the type name of a body. */
    String TYPE_HEADER = "message-type";

    /**
     * Called in the caller's transaction, before anything is sent to the database.
     *
     * @throws IllegalArgumentException if the body's class has no type name, or the body cannot be encoded;
     *     the message is not stored
     */
    EncodedBody encode(Object body);

    /**
     * Called when the destination asks for the body.
     *
     * @param type the class to decode to: exactly the one the type name stands for
     * @throws UnknownTypeException if the type name is unknown; a newer version may know it. The exception names it
     * @throws PermanentFailureException if the content does not fit the type, so that no retry can help. The exception
     *     does not repeat the content
     * @throws IllegalArgumentException if the type name stands for another class than {@code type}
     */
    <T> T decode(EncodedBody body, Class<T> type);
}
