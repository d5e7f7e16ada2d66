package dev.outbox.cli;

/** What the process ends with, as {@code docs/reference/cli.md} has it. */
final class ExitCode {
    static final int OK = 0;
    /** It was done or looked at, and the answer is bad; or the database refused. */
    static final int FAILED = 1;
    /** The call is wrong, or a confirmation is missing. Nothing was done. */
    static final int USAGE = 2;
    /** What was asked for is not there. */
    static final int NOT_FOUND = 3;
    /** The database cannot be reached, or does not let us in. */
    static final int NO_CONNECTION = 4;

    private ExitCode() {}
}
