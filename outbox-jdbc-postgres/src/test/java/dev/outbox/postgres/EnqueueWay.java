package dev.outbox.postgres;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Outbox;
import java.sql.Connection;
import java.util.List;

/** Both ways into an outbox: one message, or two with a companion. */
enum EnqueueWay {
    ONE,
    ALL;

    Enqueued enqueue(Outbox outbox, Connection tx, Message message) {
        return this == ONE
                ? outbox.enqueue(tx, message)
                : outbox.enqueueAll(tx, List.of(message, Message.to("companion").payload("")));
    }

    int count() {
        return this == ONE ? 1 : 2;
    }
}
