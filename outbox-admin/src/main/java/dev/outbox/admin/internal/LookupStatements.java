package dev.outbox.admin.internal;

/** Statements that look for items. */
public interface LookupStatements {
    /** Items by their ids. */
    String byIds();

    /** Dead records of an inbox that have no topic, by their ids. */
    String recordsByIds();

    /** A page of those with {@code value} in the column {@code by}. */
    String by();

    /** An item with its headers. */
    String detail();

    /** An item with its headers and its payload. */
    String payload();

    /** A Dead record of an inbox that has no topic. */
    String recordDetail();

    /** How many rows the table has, counted up to {@code most}. */
    String rows();
}
