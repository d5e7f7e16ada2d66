package dev.outbox;

import java.util.List;

/**
 * What an enqueue did, by message id, in the order of the call.
 *
 * @param stored messages that this call stored in the transaction
 * @param alreadyThere messages whose id was in the table already; they were not stored again. An id is remembered as
 *     long as its row exists.
 */
public record Enqueued(List<String> stored, List<String> alreadyThere) {
    public Enqueued {
        stored = List.copyOf(stored);
        alreadyThere = List.copyOf(alreadyThere);
    }
}
