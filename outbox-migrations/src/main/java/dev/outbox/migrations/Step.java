package dev.outbox.migrations;

import java.util.List;

/**
 * A part of a script.
 *
 * @param together in one transaction that waits for no lock longer than a moment, because others queue up behind it;
 *     else each statement by itself, without haste, because nobody waits for such a one
 */
record Step(boolean together, List<String> statements) {
    Step {
        statements = List.copyOf(statements);
    }

    static Step together(List<String> statements) {
        return new Step(true, statements);
    }

    static Step alone(List<String> statements) {
        return new Step(false, statements);
    }
}
