package dev.outbox.admin.internal;

/** Statements that tell how a table is doing. */
public interface StatusStatements {
    /** What is not Done, by topic and status. */
    String open();

    /** What is Done, by topic. */
    String done();

    /** How much is Done: counted up to {@code most}, and an estimate of all rows of the table. */
    String doneAbout();

    /** The throughput of the last {@code most} that became Done. */
    String recent();

    /**
     * Up to {@code most} keys that are held back, and by what. Of the items that wait for a time only the first {@code sample}
     * are looked at.
     */
    String blocked();

    /** How many Dead items hold back their keys, up to {@code most}. */
    String blockingDead();

    /** How many items are in each status but Done, each counted up to {@code most}. */
    String backlog();

    /** For how long the oldest item has been due. */
    String oldestDue();

    /** How long ago the first of the Done items that are still there became Done. */
    String oldestDone();

    /** The pollers in the table of the pollers. */
    String pollers();

    /** Items whose lease ended {@code stuck} ago. */
    String stuck();

    /**
     * Topics of items that were first due {@code late} ago and that no poller delivers: no item of the topic is leased, or
     * its type is unknown. Retries do not hide them. Of each kind of item only the first {@code most} are looked at.
     */
    String unhandled();

    /** The time of the database. */
    String now();
}
