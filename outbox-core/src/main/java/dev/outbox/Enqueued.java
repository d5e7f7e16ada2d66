package dev.outbox;

import java.util.List;

/**
 * What an enqueue did, by message id, in the order of the call.
 *
 * @param stored messages that are part of the transaction now
 * @param alreadyThere messages whose id the table holds already; they were not stored again. An id is
 *     remembered only as long as its row exists.
 */
public record Enqueued(List<String> stored, List<String> alreadyThere) {
    public Enqueued {
        stored = List.copyOf(stored);
        alreadyThere = List.copyOf(alreadyThere);
    }
}
