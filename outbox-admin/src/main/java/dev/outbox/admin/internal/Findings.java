package dev.outbox.admin.internal;

/**
 * Takes what a check finds. A finding is a sentence; the evidence has figures and names, and the advice says what to do. Both
 * may be empty.
 */
public interface Findings {
    /** It is as it should be. */
    void ok(String what);

    /** {@link #ok}, if this check has found nothing so far. */
    void okIfNothingFound(String what);

    /** It is good to know. */
    void note(String what, String evidence, String advice);

    /** It will hurt, or hurts already. */
    void warn(String what, String evidence, String advice);

    /** It does not work. */
    void fail(String what, String evidence, String advice);

    /** It could not be checked. */
    void skipped(String why, String evidence, String advice);
}
