package dev.outbox.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A longer file has more than one subject. */
class FileLengthTest {
    private static final int MOST_LINES = 350;

    private static final Path ROOT = Path.of("..");

    @Test
    void noSourceFileIsTooLong() throws IOException {
        Map<Path, Long> lengths = new TreeMap<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path sources : modules.map(module -> module.resolve("src"))
                    .filter(Files::isDirectory)
                    .toList()) {
                lengths.putAll(lengths(sources));
            }
        }

        assertThat(lengths).hasSizeGreaterThan(900);
        lengths.values().removeIf(lines -> lines <= MOST_LINES);
        assertThat(lengths).as("files of more than %d lines", MOST_LINES).isEmpty();
    }

    private static Map<Path, Long> lengths(Path sources) throws IOException {
        Map<Path, Long> lengths = new TreeMap<>();
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file :
                    files.filter(file -> file.toString().endsWith(".java")).toList()) {
                try (Stream<String> lines = Files.lines(file)) {
                    lengths.put(file, lines.count());
                }
            }
        }
        return lengths;
    }
}
