package dev.outbox.admin.internal;

/**
 * How a key is compared character by character.
 *
 * @param column the logical column that is searched
 * @param suffix what the column has after the key
 */
public record ExactKey(String column, String suffix) {}
