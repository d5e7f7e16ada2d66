package dev.outbox;

/**
 * A message arrived whose id the inbox knows with another hash. A retry cannot help: the sender gave one id to two
 * messages, or changed the message before it sent it again.
 */
public class ConflictException extends OutboxException {
    private static final long serialVersionUID = 1L;

    private final String source;
    private final String messageId;

    public ConflictException(String consumer, String source, String messageId) {
        super("consumer " + consumer + " already has a different message " + messageId + " from " + source
                + ": the hashes differ; this one was neither stored nor processed. Let the producer give each message"
                + " an id of its own, or set onConflict(...)");
        this.source = source;
        this.messageId = messageId;
    }

    public String source() {
        return source;
    }

    public String messageId() {
        return messageId;
    }
}
