package dev.outbox.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The code in the documentation is cut out of code of this project that is compiled and run. */
class DocumentationTest {
    private static final Path DOCS = Path.of("../docs");
    private static final Path QUICKSTART = Path.of("../outbox-quickstart");

    @TestFactory
    Stream<DynamicTest> javaBlocksAreCodeOfTheseTests() throws IOException {
        return blocksArePartOf(".java", "java");
    }

    @TestFactory
    Stream<DynamicTest> sqlBlocksAreCodeOfTheseTests() throws IOException {
        return blocksArePartOf("", "sql");
    }

    @Test
    void theReadmeShowsCodeOfTheQuickstartAndOfTheExamples() throws IOException {
        List<String> code = new ArrayList<>(sources(QUICKSTART.resolve("src/main"), ".java"));
        code.addAll(sources(Path.of("src/test"), ".java"));

        assertThat(javaBlocks(read(Path.of("../README.md")))).isNotEmpty().allMatch(block -> isPartOfOne(code, block));
    }

    @Test
    void theTutorialShowsCodeThatRunsInTheQuickstart() throws IOException {
        List<String> code = sources(QUICKSTART.resolve("src"), ".java");

        assertThat(javaBlocks(read(DOCS.resolve("tutorial/first-message.md"))))
                .isNotEmpty()
                .allMatch(block -> isPartOfOne(code, block));
    }

    @Test
    void aBlockThatIsNowhereIsFound() {
        assertThat(javaBlocks("text\n```java\nnowhere();\n```\ntext")).containsExactly("nowhere();");
        assertThat(isPartOfOne(List.of("somewhere();"), "nowhere();")).isFalse();
    }

    /** A block that is only indented would not be checked. */
    @TestFactory
    Stream<DynamicTest> codeIsFenced() throws IOException {
        return files(DOCS, ".md").stream()
                .map(document -> DynamicTest.dynamicTest(
                        DOCS.relativize(document).toString(),
                        () -> assertThat(indentedCode(read(document))).isEmpty()));
    }

    @Test
    void indentedCodeIsFound() {
        assertThat(indentedCode("text\n\n    call();\n\n```java\n    fenced();\n```\n    ./mvnw verify\n"))
                .containsExactly("    call();");
    }

    private static List<String> indentedCode(String document) {
        return Pattern.compile("```.*?```", Pattern.DOTALL)
                .matcher(document)
                .replaceAll("")
                .lines()
                .filter(line -> line.matches(" {4}.*[;{}]\\s*(//.*)?|.* {4}//.*"))
                .toList();
    }

    private static Stream<DynamicTest> blocksArePartOf(String ending, String language) throws IOException {
        List<String> sources = sourcesOfTests(ending);
        return files(DOCS, ".md").stream()
                .flatMap(document -> blocks(read(document), language).stream()
                        .map(block -> DynamicTest.dynamicTest(
                                DOCS.relativize(document) + ": "
                                        + block.strip().lines().findFirst().orElse(""),
                                () -> assertThat(isPartOfOne(sources, block))
                                        .as("%s is part of a file in src/test:%n%s", document, block)
                                        .isTrue())));
    }

    private static List<String> javaBlocks(String document) {
        return blocks(document, "java").stream().map(String::strip).toList();
    }

    private static List<String> blocks(String document, String language) {
        return Pattern.compile("```" + language + "\\R(.*?)```", Pattern.DOTALL)
                .matcher(document)
                .results()
                .map(block -> block.group(1))
                .toList();
    }

    private static boolean isPartOfOne(List<String> sources, String block) {
        return sources.stream().anyMatch(source -> source.contains(withoutSpace(block)));
    }

    private static List<String> sourcesOfTests(String ending) throws IOException {
        return withoutSpace(files(Path.of(".."), ending).stream()
                .filter(file -> file.toString().replace('\\', '/').contains("/src/test/")));
    }

    private static List<String> sources(Path directory, String ending) throws IOException {
        return withoutSpace(files(directory, ending).stream());
    }

    private static List<String> withoutSpace(Stream<Path> files) {
        return files.map(DocumentationTest::read)
                .map(DocumentationTest::withoutSpace)
                .toList();
    }

    private static List<Path> files(Path directory, String ending) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> !file.toString().contains("target"))
                    .filter(Files::isRegularFile)
                    .filter(file -> file.toString().endsWith(ending))
                    .sorted()
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
