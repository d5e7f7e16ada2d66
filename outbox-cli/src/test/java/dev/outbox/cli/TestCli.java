package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs commands in this JVM, without a terminal. */
final class TestCli {
    private final Map<String, String> variables = new HashMap<>();

    /** What came of a command. */
    record Result(int code, String out, String err) {
        /** Each line of output as JSON. */
        List<JsonNode> json() {
            return out.lines().map(Result::parse).toList();
        }

        private static JsonNode parse(String line) {
            try {
                return new ObjectMapper().readTree(line);
            } catch (JsonProcessingException e) {
                throw new AssertionError("no JSON: " + line, e);
            }
        }
    }

    TestCli with(String variable, String value) {
        variables.put(variable, value);
        return this;
    }

    Result run(String... args) {
        return run(Terminal.NONE, args);
    }

    Result run(Terminal terminal, String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Cli.run(
                new Environment(Map.copyOf(variables), new PrintWriter(out), new PrintWriter(err), terminal), args);
        return new Result(code, out.toString(), err.toString());
    }

    /** The dead letters, as {@code dead list} prints them for a script. */
    List<JsonNode> dead() {
        Result result = run("dead", "list", "--json");
        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
        List<JsonNode> items = new ArrayList<>();
        result.json().get(0).get("items").forEach(items::add);
        return items;
    }
}
