package dev.outbox.admin;

import dev.outbox.internal.Require;
import java.time.Duration;

/**
 * From where on the doctor warns. Immutable: each method returns a copy.
 *
 * @param transaction how long a transaction may be open, which keeps vacuum from cleaning up
 * @param clockSkew how far the clocks of this JVM and the database may be apart
 * @param stuck how long ago a lease may have ended without anybody noticing
 * @param silence how long a known poller may be silent, and an item be due while nobody polls
 * @param deadTuples how many row versions may wait for vacuum; more if they are less than a fifth of the rows
 * @param tableBytes how large a table may be that is mostly Done rows
 * @param slotAge how many transactions back a replication slot may keep rows
 * @param retention how long ago the oldest Done item may have become so; only told of if there are more than doneRows
 * @param doneRows how many items may be Done, however old they are
 */
public record DoctorLimits(
        Duration transaction,
        Duration clockSkew,
        Duration stuck,
        Duration silence,
        long deadTuples,
        long tableBytes,
        long slotAge,
        Duration retention,
        long doneRows) {
    public DoctorLimits {
        Require.notNegative("transaction", transaction);
        Require.notNegative("clockSkew", clockSkew);
        Require.notNegative("stuck", stuck);
        Require.notNegative("silence", silence);
        Require.notNegative("retention", retention);
    }

    /**
     * 5 minutes, 2 seconds, 5 minutes, 2 minutes, 100,000 row versions, 5 GiB, 1,000,000 transactions, 31 days, 1,000,000
     * items.
     */
    public static DoctorLimits standard() {
        return new DoctorLimits(
                Duration.ofMinutes(5),
                Duration.ofSeconds(2),
                Duration.ofMinutes(5),
                Duration.ofMinutes(2),
                100_000,
                5L << 30,
                1_000_000,
                Duration.ofDays(31),
                1_000_000);
    }

    /** How long a transaction may be open. */
    public DoctorLimits transaction(Duration transaction) {
        return new DoctorLimits(
                transaction, clockSkew, stuck, silence, deadTuples, tableBytes, slotAge, retention, doneRows);
    }

    /** How far the clocks may be apart. */
    public DoctorLimits clockSkew(Duration clockSkew) {
        return new DoctorLimits(
                transaction, clockSkew, stuck, silence, deadTuples, tableBytes, slotAge, retention, doneRows);
    }

    /** How long ago a lease may have ended without anybody noticing. */
    public DoctorLimits stuck(Duration stuck) {
        return new DoctorLimits(
                transaction, clockSkew, stuck, silence, deadTuples, tableBytes, slotAge, retention, doneRows);
    }

    /** How long a known poller may be silent, and an item be due while nobody polls. */
    public DoctorLimits silence(Duration silence) {
        return new DoctorLimits(
                transaction, clockSkew, stuck, silence, deadTuples, tableBytes, slotAge, retention, doneRows);
    }

    /** How many row versions may wait for vacuum. */
    public DoctorLimits deadTuples(long deadTuples) {
        return new DoctorLimits(
                transaction, clockSkew, stuck, silence, deadTuples, tableBytes, slotAge, retention, doneRows);
    }

    /** How large a table may be that is mostly Done rows. */
    public DoctorLimits tableBytes(long tableBytes) {
        return new DoctorLimits(
                transaction, clockSkew, stuck, silence, deadTuples, tableBytes, slotAge, retention, doneRows);
    }

    /** How many transactions back a replication slot may keep rows. */
    public DoctorLimits slotAge(long slotAge) {
        return new DoctorLimits(
                transaction, clockSkew, stuck, silence, deadTuples, tableBytes, slotAge, retention, doneRows);
    }

    /** How long what is Done is meant to be kept. */
    public DoctorLimits retention(Duration retention) {
        return new DoctorLimits(
                transaction, clockSkew, stuck, silence, deadTuples, tableBytes, slotAge, retention, doneRows);
    }

    /** How many items may be Done, however old they are. */
    public DoctorLimits doneRows(long doneRows) {
        return new DoctorLimits(
                transaction, clockSkew, stuck, silence, deadTuples, tableBytes, slotAge, retention, doneRows);
    }
}
