package dev.outbox.admin;

import dev.outbox.internal.Require;
import java.time.Duration;

/** The limits beyond which the doctor warns. Immutable: each method that sets a limit returns a copy. */
public final class DoctorLimits {
    private Duration transaction = Duration.ofMinutes(5);
    private Duration clockSkew = Duration.ofSeconds(2);
    private Duration stuck = Duration.ofMinutes(5);
    private Duration silence = Duration.ofMinutes(2);
    private long deadTuples = 100_000;
    private long tableBytes = 5L << 30;
    private long slotAge = 1_000_000;
    private Duration retention = Duration.ofDays(31);
    private long doneRows = 1_000_000;

    private DoctorLimits() {}

    private DoctorLimits(DoctorLimits other) {
        this.transaction = other.transaction;
        this.clockSkew = other.clockSkew;
        this.stuck = other.stuck;
        this.silence = other.silence;
        this.deadTuples = other.deadTuples;
        this.tableBytes = other.tableBytes;
        this.slotAge = other.slotAge;
        this.retention = other.retention;
        this.doneRows = other.doneRows;
    }

    /** Each limit with its default. */
    public static DoctorLimits standard() {
        return new DoctorLimits();
    }

    /** How long a transaction may be open; vacuum cannot clean up behind it. Default: 5 minutes. */
    public DoctorLimits transaction(Duration transaction) {
        DoctorLimits copy = new DoctorLimits(this);
        copy.transaction = Require.notNegative("transaction", transaction);
        return copy;
    }

    /** How much the clocks of this JVM and the database may differ. Default: 2 seconds. */
    public DoctorLimits clockSkew(Duration clockSkew) {
        DoctorLimits copy = new DoctorLimits(this);
        copy.clockSkew = Require.notNegative("clockSkew", clockSkew);
        return copy;
    }

    /** How long ago a lease may have ended without a poller having taken the item back. Default: 5 minutes. */
    public DoctorLimits stuck(Duration stuck) {
        DoctorLimits copy = new DoctorLimits(this);
        copy.stuck = Require.notNegative("stuck", stuck);
        return copy;
    }

    /** How long a known poller may be silent, and for how long an item may be due without being delivered. Default: 2 minutes. */
    public DoctorLimits silence(Duration silence) {
        DoctorLimits copy = new DoctorLimits(this);
        copy.silence = Require.notNegative("silence", silence);
        return copy;
    }

    /** How many row versions may wait for vacuum; a fifth of the rows may always wait. Default: 100,000. */
    public DoctorLimits deadTuples(long deadTuples) {
        DoctorLimits copy = new DoctorLimits(this);
        copy.deadTuples = deadTuples;
        return copy;
    }

    /** How large a table may be, in bytes. Default: 5 GiB. */
    public DoctorLimits tableBytes(long tableBytes) {
        DoctorLimits copy = new DoctorLimits(this);
        copy.tableBytes = tableBytes;
        return copy;
    }

    /** For how many transactions a replication slot may keep dead rows from vacuum. Default: 1,000,000. */
    public DoctorLimits slotAge(long slotAge) {
        DoctorLimits copy = new DoctorLimits(this);
        copy.slotAge = slotAge;
        return copy;
    }

    /**
     * How long Done items are meant to be kept. The doctor warns of older ones only if there are more than {@link #doneRows}.
     * Default: 31 days.
     */
    public DoctorLimits retention(Duration retention) {
        DoctorLimits copy = new DoctorLimits(this);
        copy.retention = Require.notNegative("retention", retention);
        return copy;
    }

    /** How many items may be Done, however old they are. Default: 1,000,000. */
    public DoctorLimits doneRows(long doneRows) {
        DoctorLimits copy = new DoctorLimits(this);
        copy.doneRows = doneRows;
        return copy;
    }

    Duration transaction() {
        return transaction;
    }

    Duration clockSkew() {
        return clockSkew;
    }

    Duration stuck() {
        return stuck;
    }

    Duration silence() {
        return silence;
    }

    long deadTuples() {
        return deadTuples;
    }

    long tableBytes() {
        return tableBytes;
    }

    long slotAge() {
        return slotAge;
    }

    Duration retention() {
        return retention;
    }

    long doneRows() {
        return doneRows;
    }
}
