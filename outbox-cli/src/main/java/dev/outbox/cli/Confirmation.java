package dev.outbox.cli;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A command that changes many rows needs a yes: in advance, or in answer to a question. */
final class Confirmation {
    @Option(names = "--dry-run", description = "Change nothing; print what would be changed.")
    private boolean dryRun;

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask. Needed where there is no terminal to ask on.")
    private boolean yes;

    boolean isDryRun() {
        return dryRun;
    }

    /** Whether {@link #require} can only refuse. */
    boolean isMissing(Environment environment) {
        return !yes && !environment.terminal().isThere();
    }

    /**
     * Asks the question, after the command has printed what it would do.
     *
     * @param question such as {@code Discard 12 items?}
     * @throws CliException if the answer is not yes
     */
    void require(Environment environment, String question) {
        if (yes) {
            return;
        }
        if (isMissing(environment)) {
            throw CliException.usage(
                    "nothing was done: without a terminal to ask \"" + question + "\" on, this needs --yes");
        }
        @Nullable String answer = environment.terminal().answer(question + " [y/N] ");
        if (answer == null || !answer.strip().toLowerCase(Locale.ROOT).matches("y|yes")) {
            throw CliException.usage("nothing was done");
        }
    }
}
