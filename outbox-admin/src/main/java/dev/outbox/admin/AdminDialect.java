package dev.outbox.admin;

import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;

/** What is not the same in the two databases: how a table is found, and the statements. */
interface AdminDialect {
    /** The table, if there is one of this name. */
    Optional<AdminTable> find(Connection connection, TableName name, TableKind kind) throws SQLException;

    /** A statement, so that it is planned for the values it gets: filters that are not given must not cost anything. */
    Query planned(Query query) throws SQLException;

    /** A text as a parameter. */
    Object text(String text);

    /** The logical column that is searched for it. */
    String searched(Lookup.By by);

    /** What is looked for in that column. */
    String searched(Lookup.By by, String value);

    DeadSql dead();

    LookupSql lookup();

    StatusSql status();

    PurgeSql purge();

    Examiner examiner(AdminSession session, DoctorLimits limits);

    /** Checks that only this database has, by their names. */
    interface Examiner {
        Map<String, Doctor.Examination> database();

        Map<String, Doctor.Examination> table(AdminTable table);
    }

    /**
     * Complete statements about dead letters; each is the same for an outbox and an inbox.
     *
     * @param newest a page, the newest first, from {@code at} and {@code id} on
     * @param newestUnknown what follows then: those that died at a time that is not known, from {@code id} on
     * @param oldest the same the other way round, from {@code at}, {@code id} and {@code unknown_id} on
     * @param count how many there are, up to {@code most}, and how many of them can be requeued
     * @param requeue answers the ids of those it put back; where there is an {@code endOfKey}, in the order of their keys,
     *     and whether each {@code moves} to the end of its key
     * @param endOfKey how items that were skipped go to the end of their keys; empty where they keep their place
     * @param discardOutbox answers the ids of those it removed
     * @param discardInbox answers the ids of those it made records of; they died between {@code first} and {@code last}
     */
    record DeadSql(
            String newest,
            String newestUnknown,
            String oldest,
            String count,
            String requeue,
            Optional<EndOfKeySql> endOfKey,
            String discardOutbox,
            String discardInbox) {}

    /**
     * Complete statements that run in the transaction of a requeue.
     *
     * @param lockKeys before it: takes {@code locks} in their order, between {@code entering} and {@code holding}
     * @param moveToEnd after it: gives the item {@code id} a new sequence
     */
    record EndOfKeySql(String lockKeys, String moveToEnd) {}

    /**
     * Complete statements that look for items.
     *
     * @param byIds items by their ids
     * @param recordsByIds Dead records without a topic by their ids, of an inbox
     * @param by a page of those with {@code value} in the column {@code by}
     * @param detail an item with its headers
     * @param payload an item with headers and payload
     * @param recordDetail a Dead record without a topic
     * @param indexed whether an index serves a search by the column named {@code column}
     * @param rows how many rows the table has: counted up to {@code most}, and estimated
     */
    record LookupSql(
            String byIds,
            String recordsByIds,
            String by,
            String detail,
            String payload,
            String recordDetail,
            String indexed,
            String rows) {}

    /**
     * Complete statements that tell how a table is doing.
     *
     * @param open by topic and status, what is not Done
     * @param done by topic
     * @param doneAbout how much is Done: counted up to {@code most}, and an estimate of all rows
     * @param recent throughput of the last {@code most} that were Done
     * @param blocked up to {@code most} keys that are held back, and by what; of what waits for a time only the first
     *     {@code sample} are looked at
     * @param blockingDead how many Dead items hold back their keys, up to {@code most}
     * @param backlog how many items are in each status but Done, counted up to {@code most}
     * @param oldestDue for how long the oldest item has been due
     * @param pollers that have told of themselves
     * @param oldestDone how long ago the first of those that are there was Done
     * @param stuck items whose lease ended {@code stuck} ago
     * @param unhandled topics of items that were first due {@code late} ago and that nobody delivers; of each kind of item the
     *     first {@code most} are looked at
     * @param now the time
     */
    record StatusSql(
            String open,
            String done,
            String doneAbout,
            String recent,
            String blocked,
            String blockingDead,
            String backlog,
            String oldestDue,
            String oldestDone,
            String pollers,
            String stuck,
            String unhandled,
            String now) {}

    /**
     * Complete statements about what has been Done for longer than {@code older_than}.
     *
     * @param purge removes up to {@code batch}
     * @param count counts up to {@code most}
     */
    record PurgeSql(String purge, String count) {}
}
