package dev.outbox.admin;

import dev.outbox.internal.Require;
import java.time.Duration;

/**
 * From where on the doctor warns. Immutable: each method returns a copy.
 *
 * @param transaction how long a transaction may be open, which keeps vacuum from cleaning up
 * @param clockSkew how far the clocks of this JVM and the database may be apart
 * @param stuck how long ago a lease may have ended without anybody noticing
 * @param silence how long a known poller may be silent
 * @param deadTuples how many row versions may wait for vacuum; more if they are less than a fifth of the rows
 * @param tableBytes how large a table may be that is mostly Done rows
 */
public record DoctorLimits(
        Duration transaction, Duration clockSkew, Duration stuck, Duration silence, long deadTuples, long tableBytes) {
    public DoctorLimits {
        Require.notNegative("transaction", transaction);
        Require.notNegative("clockSkew", clockSkew);
        Require.notNegative("stuck", stuck);
        Require.notNegative("silence", silence);
    }

    /** 5 minutes, 2 seconds, 5 minutes, 2 minutes, 100,000 row versions, 5 GiB. */
    public static DoctorLimits standard() {
        return new DoctorLimits(
                Duration.ofMinutes(5),
                Duration.ofSeconds(2),
                Duration.ofMinutes(5),
                Duration.ofMinutes(2),
                100_000,
                5L << 30);
    }

    /** How long a transaction may be open. */
    public DoctorLimits transaction(Duration transaction) {
        return new DoctorLimits(transaction, clockSkew, stuck, silence, deadTuples, tableBytes);
    }

    /** How far the clocks may be apart. */
    public DoctorLimits clockSkew(Duration clockSkew) {
        return new DoctorLimits(transaction, clockSkew, stuck, silence, deadTuples, tableBytes);
    }

    /** How long ago a lease may have ended without anybody noticing. */
    public DoctorLimits stuck(Duration stuck) {
        return new DoctorLimits(transaction, clockSkew, stuck, silence, deadTuples, tableBytes);
    }

    /** How long a known poller may be silent. */
    public DoctorLimits silence(Duration silence) {
        return new DoctorLimits(transaction, clockSkew, stuck, silence, deadTuples, tableBytes);
    }

    /** How many row versions may wait for vacuum. */
    public DoctorLimits deadTuples(long deadTuples) {
        return new DoctorLimits(transaction, clockSkew, stuck, silence, deadTuples, tableBytes);
    }

    /** How large a table may be that is mostly Done rows. */
    public DoctorLimits tableBytes(long tableBytes) {
        return new DoctorLimits(transaction, clockSkew, stuck, silence, deadTuples, tableBytes);
    }
}
