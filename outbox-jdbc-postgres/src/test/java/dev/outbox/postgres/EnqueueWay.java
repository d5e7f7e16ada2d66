package dev.outbox.postgres;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Outbox;
import java.sql.Connection;
import java.util.List;
import java.util.stream.Stream;

/** Both ways into an outbox: one message at a time, or several at once. */
enum EnqueueWay {
    ONE,
    ALL;

    Enqueued enqueue(Outbox outbox, Connection tx, Message message) {
        return this == ONE
                ? outbox.enqueue(tx, message)
                : outbox.enqueueAll(tx, List.of(message, Message.to("companion").payload("")));
    }

    /** One message for each key; {@link #ALL} stores one without a key beside them. */
    void enqueueKeys(Outbox outbox, Connection tx, String payload, String... keys) {
        List<Message> messages = Stream.of(keys)
                .map(key -> Message.to("orders").key(key).payload(payload))
                .toList();
        if (this == ONE) {
            messages.forEach(message -> outbox.enqueue(tx, message));
        } else {
            Message unkeyed = Message.to("audit").payload("unkeyed");
            outbox.enqueueAll(
                    tx, Stream.concat(messages.stream(), Stream.of(unkeyed)).toList());
        }
    }

    int count() {
        return this == ONE ? 1 : 2;
    }
}
