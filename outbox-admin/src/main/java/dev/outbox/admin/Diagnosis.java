package dev.outbox.admin;

/**
 * What the doctor found about one thing.
 *
 * @param check what was looked at, in one word or two
 * @param what was found, in a sentence
 * @param evidence figures and names; empty if there is nothing to tell
 * @param advice what to do; empty if nothing is to be done
 */
public record Diagnosis(String check, Severity severity, String what, String evidence, String advice) {
    /** From good to bad; what could not be looked at comes last. */
    public enum Severity {
        /** As it should be. */
        OK,
        /** Good to know. */
        NOTE,
        /** Will hurt, or hurts already. */
        WARN,
        /** Does not work. */
        FAIL,
        /** Could not be looked at. */
        SKIPPED
    }

    static Diagnosis ok(String check, String what) {
        return new Diagnosis(check, Severity.OK, what, "", "");
    }

    static Diagnosis skipped(String check, String why) {
        return new Diagnosis(check, Severity.SKIPPED, why, "", "");
    }
}
