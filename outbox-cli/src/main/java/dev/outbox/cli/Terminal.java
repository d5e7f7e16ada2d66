package dev.outbox.cli;

import java.io.Console;
import java.lang.reflect.InvocationTargetException;
import org.jspecify.annotations.Nullable;

/** The person in front of the command, if there is one. */
interface Terminal {
    /** Whether a person sees what is printed and can answer. */
    boolean isThere();

    /** What the person types after this question; null at the end of input. */
    @Nullable
    String answer(String question);

    /** {@link #answer}, without showing what is typed. */
    char @Nullable [] secret(String question);

    /** Output goes to a file, a pipe or a scheduler's log. */
    Terminal NONE = new Terminal() {
        @Override
        public boolean isThere() {
            return false;
        }

        @Override
        public @Nullable String answer(String question) {
            return null;
        }

        @Override
        public char @Nullable [] secret(String question) {
            return null;
        }
    };

    @SuppressWarnings("SystemConsoleNull") // isTerminal asks
    static Terminal ofProcess() {
        Console console = System.console();
        return console == null || !isTerminal(console) ? NONE : new OfConsole(console);
    }

    /** Up to Java 21 there is a console only if it is a terminal; from 22 on it has to be asked. */
    private static boolean isTerminal(Console console) {
        try {
            return (Boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (IllegalAccessException | InvocationTargetException e) {
            return false;
        }
    }

    /** @param console reads from and writes to the terminal itself */
    record OfConsole(Console console) implements Terminal {
        @Override
        public boolean isThere() {
            return true;
        }

        @Override
        public @Nullable String answer(String question) {
            return console.readLine("%s", question);
        }

        @Override
        public char @Nullable [] secret(String question) {
            return console.readPassword("%s", question);
        }
    }
}
