package dev.outbox.cli;

import org.jspecify.annotations.Nullable;

/** Ends the command with a message for people: what happened, the value, the rule, the next step. */
final class CliException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    private CliException(int exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    static CliException usage(String message) {
        return new CliException(ExitCode.USAGE, message, null);
    }

    static CliException notFound(String message) {
        return new CliException(ExitCode.NOT_FOUND, message, null);
    }

    static CliException noConnection(String message, Throwable cause) {
        return new CliException(ExitCode.NO_CONNECTION, message, cause);
    }

    int exitCode() {
        return exitCode;
    }
}
