package dev.outbox.cli;

/** What the process ends with, as {@code docs/reference/cli.md} has it. */
final class ExitCode {
    static final int OK = 0;
    /** The command failed, or what it looked at is not healthy. */
    static final int FAILED = 1;
    /** The usage is wrong, or a confirmation is missing. Nothing was done. */
    static final int USAGE = 2;
    /** The table or item does not exist. */
    static final int NOT_FOUND = 3;
    /** The database cannot be reached, or refuses the login. */
    static final int NO_CONNECTION = 4;

    private ExitCode() {}
}
