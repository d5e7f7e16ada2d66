package dev.outbox.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The BOM stands apart from the parent, so nothing but this keeps the two together. */
class BomTest {
    private static final Path ROOT = Path.of("..");

    @Test
    void theBomListsExactlyThePublishedModules() throws IOException {
        Set<String> published = new TreeSet<>();
        for (String module : all("<module>(.*?)</module>", pom("."))) {
            String pom = pom(module);
            if (!module.equals("outbox-bom") && !pom.contains("<maven.deploy.skip>true</maven.deploy.skip>")) {
                published.add(module);
            }
        }

        assertThat(all(
                        "<artifactId>(.*?)</artifactId>\\s*<version>\\$\\{project.version}</version>",
                        pom("outbox-bom")))
                .isEqualTo(published);
    }

    @Test
    void theBomHasTheVersionOfTheProject() throws IOException {
        String version = "<artifactId>%s</artifactId>\\s*<version>(.*?)</version>";

        assertThat(all(version.formatted("outbox-bom"), pom("outbox-bom")))
                .hasSize(1)
                .isEqualTo(all(version.formatted("outbox-parent"), pom(".")));
    }

    private static String pom(String module) throws IOException {
        return Files.readString(ROOT.resolve(module).resolve("pom.xml"));
    }

    private static Set<String> all(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
