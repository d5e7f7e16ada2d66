package dev.outbox.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The Java in the documentation is cut out of code that is compiled and run here. */
class DocumentationTest {
    private static final Pattern JAVA_BLOCK = Pattern.compile("```java\\R(.*?)```", Pattern.DOTALL);

    @Test
    void readmeShowsCodeOfTheQuickstartAndOfExamples() throws IOException {
        List<String> code = new ArrayList<>(sources("src/main/java"));
        code.addAll(sources("../outbox-examples/src/test/java"));

        assertThat(javaBlocks("../README.md")).isNotEmpty().allMatch(block -> isPartOfOne(code, block));
    }

    @Test
    void tutorialShowsCodeThatRunsHere() throws IOException {
        List<String> sources = sources("src");

        assertThat(javaBlocks("../docs/tutorial/first-message.md"))
                .isNotEmpty()
                .allMatch(block -> isPartOfOne(sources, block));
    }

    private static boolean isPartOfOne(List<String> sources, String block) {
        return sources.stream().anyMatch(source -> source.contains(block));
    }

    private static List<String> javaBlocks(String document) throws IOException {
        return JAVA_BLOCK
                .matcher(Files.readString(Path.of(document)))
                .results()
                .map(block -> withoutSpace(block.group(1)))
                .toList();
    }

    private static List<String> sources(String directory) throws IOException {
        try (Stream<Path> files = Files.walk(Path.of(directory))) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .map(DocumentationTest::read)
                    .map(DocumentationTest::withoutSpace)
                    .toList();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Indentation and line breaks may differ. */
    private static String withoutSpace(String code) {
        return code.replaceAll("\\s+", "");
    }
}
