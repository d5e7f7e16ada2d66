package dev.outbox.spi;

import dev.outbox.internal.Require;

/**
 * The right to settle one item. Every claim draws a fresh owner token, so the token of a worker that lost its lease no
 * longer matches a row.
 */
public record Lease(String itemId, String ownerToken) {
    public Lease {
        Require.present("itemId", itemId);
        Require.present("ownerToken", ownerToken);
    }
}
