package dev.outbox.cli;

import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.Map;

/**
 * The process that runs a command.
 *
 * @param variables those of the environment
 * @param out results
 * @param err everything else
 */
record Environment(Map<String, String> variables, PrintWriter out, PrintWriter err, Terminal terminal) {
    static Environment ofProcess() {
        return new Environment(
                System.getenv(),
                new PrintWriter(System.out, true, Charset.defaultCharset()),
                new PrintWriter(System.err, true, Charset.defaultCharset()),
                Terminal.ofProcess());
    }

    /** The variable's value, or an empty text. */
    String variable(String name) {
        return variables.getOrDefault(name, "");
    }
}
