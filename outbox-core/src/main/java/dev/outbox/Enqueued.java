package dev.outbox;

import java.util.List;

/**
 * The result of an enqueue: message ids, in the order of the call.
 *
 * @param stored the messages that this call stored in the transaction
 * @param alreadyThere the messages whose id was in the table already; they were not stored again. An id is recognised as
 *     long as its row exists.
 */
public record Enqueued(List<String> stored, List<String> alreadyThere) {
    public Enqueued {
        stored = List.copyOf(stored);
        alreadyThere = List.copyOf(alreadyThere);
    }
}
