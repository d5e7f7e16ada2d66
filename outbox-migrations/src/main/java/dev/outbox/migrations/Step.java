package dev.outbox.migrations;

import java.util.List;

/**
 * A part of a script.
 *
 * @param together in one transaction that waits for no lock longer than a moment, because others queue up behind it;
 *     else each statement by itself, because it takes long or must not be part of one. How long such a one waits, the
 *     database decides ({@link Session#lockTimeout})
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
