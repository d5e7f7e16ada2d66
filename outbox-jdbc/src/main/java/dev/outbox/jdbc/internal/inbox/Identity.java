package dev.outbox.jdbc.internal.inbox;

import dev.outbox.Incoming;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.internal.sql.StorableText;

/** What tells messages apart within one consumer. */
public record Identity(String source, String messageId) {
    static Identity of(Incoming incoming) {
        return of(incoming.source(), incoming.messageId());
    }

    static Identity of(String source, String messageId) {
        StorableText.check("source", Require.present("source", source));
        StorableText.check("messageId", Require.present("messageId", messageId));
        return new Identity(source, messageId);
    }
}
