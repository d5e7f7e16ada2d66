package dev.outbox;

/** What becomes of a work item that was delivered. */
public enum Ack {
    /** The row stays as Done until retention purges it: an audit trail, and a memory of its id. The default. */
    KEEP,
    /** The row is deleted, and with it the memory of its id: the table stays small. */
    DELETE
}
