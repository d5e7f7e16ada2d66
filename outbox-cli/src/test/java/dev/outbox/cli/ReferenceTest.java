package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** {@code docs/reference/cli.md} has every command, and every option of it. */
class ReferenceTest {
    private static final Path PAGE = Path.of("../docs/reference/cli.md");

    private final Map<String, CommandLine> commands = commands();

    private static Map<String, CommandLine> commands() {
        PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        CommandLine root = Cli.commandLine(new Environment(Map.of(), nowhere, nowhere, Terminal.NONE));
        Map<String, CommandLine> commands = new TreeMap<>();
        collect(root, commands);
        return commands;
    }

    private static void collect(CommandLine line, Map<String, CommandLine> commands) {
        if (line.getSubcommands().isEmpty()) {
            commands.put(line.getCommandSpec().qualifiedName(), line);
        }
        line.getSubcommands().values().forEach(sub -> collect(sub, commands));
    }

    @TestFactory
    Stream<DynamicTest> everyOptionIsOnThePage() throws IOException {
        String page = Files.readString(PAGE);
        return commands.entrySet().stream()
                .map(command -> DynamicTest.dynamicTest(command.getKey(), () -> {
                    for (OptionSpec option : command.getValue().getCommandSpec().options()) {
                        assertThat(page).contains("`" + option.longestName());
                        assertThat(option.description())
                                .as(option.longestName())
                                .isNotEmpty();
                    }
                }));
    }

    @Test
    void everyCommandHasASectionAndNoOtherHas() throws IOException {
        assertThat(Pattern.compile("^## (outbox .*)$", Pattern.MULTILINE)
                        .matcher(Files.readString(PAGE))
                        .results()
                        .map(heading -> heading.group(1)))
                .containsExactlyInAnyOrderElementsOf(commands.keySet());
    }
}
