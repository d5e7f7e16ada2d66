package dev.outbox.admin;

/**
 * One finding of the doctor.
 *
 * @param check the name of the check, such as {@code outbox leases}
 * @param what the finding, in a sentence
 * @param evidence figures and names; empty if there are none
 * @param advice what to do; empty if nothing is to be done
 */
public record Diagnosis(String check, Severity severity, String what, String evidence, String advice) {
    /** From good to bad; {@link #SKIPPED} comes last. */
    public enum Severity {
        /** It is as it should be. */
        OK,
        /** It is worth knowing. */
        NOTE,
        /** It causes trouble, or is going to. */
        WARN,
        /** It does not work. */
        FAIL,
        /** It could not be checked. */
        SKIPPED
    }
}
