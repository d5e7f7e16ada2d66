package dev.outbox;

/** What happens to the row of a delivered work item. */
public enum Ack {
    /**
     * The row stays as Done until its retention is over: it is an audit trail, and its id is still recognised. The
     * default.
     */
    KEEP,
    /** The row is deleted: the table stays small, but the id is no longer recognised. */
    DELETE
}
