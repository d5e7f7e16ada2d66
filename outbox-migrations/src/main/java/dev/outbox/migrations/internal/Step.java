package dev.outbox.migrations.internal;

import java.util.List;

/**
 * A part of a script.
 *
 * @param together whether its statements are one transaction, which waits for a lock only a moment, because others queue up
 *     behind it. Otherwise each statement runs by itself, because it takes long or must not be part of a transaction; how
 *     long it waits for a lock, {@link ScriptDialect#lockTimeout} says
 */
public record Step(boolean together, List<String> statements) {
    public Step {
        statements = List.copyOf(statements);
    }

    public static Step together(List<String> statements) {
        return new Step(true, statements);
    }

    public static Step alone(List<String> statements) {
        return new Step(false, statements);
    }
}
