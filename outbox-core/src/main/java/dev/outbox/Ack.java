package dev.outbox;

/** What happens to a work item that was delivered. */
public enum Ack {
    /** The row stays as Done until retention purges it: it is an audit trail, and its id is remembered. The default. */
    KEEP,
    /** The row is deleted, and its id is forgotten: the table stays small. */
    DELETE
}
