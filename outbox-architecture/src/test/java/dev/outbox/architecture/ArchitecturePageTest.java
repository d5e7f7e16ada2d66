package dev.outbox.architecture;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What docs/explanation/architecture.md says of modules, packages and classes. */
class ArchitecturePageTest {
    private static final Path ROOT = Path.of("..");

    private static final Pattern NAMED = Pattern.compile("`([^`]+)`");

    private static final JavaClasses OURS = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.outbox");

    /** Subpackages that only hold what is shared between modules, and the places where Flyway looks. */
    private static final Pattern NOT_LISTED =
            Pattern.compile("dev\\.outbox(\\.delivery)?\\.internal|dev\\.outbox\\.migrations\\.upgrade\\..*");

    private static final Set<String> LISTED_MODULES = Set.of(
            "outbox-core",
            "outbox-jdbc",
            "outbox-jdbc-postgres",
            "outbox-jdbc-sqlserver",
            "outbox-migrations",
            "outbox-admin");

    private final String page = read(ROOT.resolve("docs/explanation/architecture.md"));

    @Test
    void everyPublishedModuleIsListedWithWhatItUses() {
        Map<String, Set<String>> said = new TreeMap<>();
        rows("Modules").forEach(row -> said.put(names(row[1]).get(0), new TreeSet<>(names(row[3]))));

        Map<String, Set<String>> real = new TreeMap<>();
        for (String module : all("<module>(.*?)</module>", read(ROOT.resolve("pom.xml")))) {
            String pom = read(ROOT.resolve(module).resolve("pom.xml"));
            if (!module.equals("outbox-bom") && !pom.contains("<maven.deploy.skip>true</maven.deploy.skip>")) {
                real.put(module, uses(pom));
            }
        }
        assertThat(said).isEqualTo(real);
    }

    @Test
    void everyOtherModuleIsNamed() {
        assertThat(all("<module>(.*?)</module>", read(ROOT.resolve("pom.xml"))))
                .allSatisfy(module -> assertThat(section("Modules")).contains("`" + module + "`"));
    }

    @Test
    void everyPackageOfTheRuntimeItsMigrationsAndToolsIsListed() {
        Set<String> real = OURS.stream()
                .filter(type -> LISTED_MODULES.contains(Modules.of(type)))
                .map(JavaClass::getPackageName)
                .filter(name -> !NOT_LISTED.matcher(name).matches())
                .collect(toCollection(TreeSet::new));

        assertThat(rows("Packages").map(row -> names(row[1]).get(0))).containsExactlyInAnyOrderElementsOf(real);
    }

    @ParameterizedTest
    @ValueSource(strings = {"The way of a message", "The way of a claim"})
    void eachStepIsReachedFromOneBefore(String title) {
        List<JavaClass> reached = new ArrayList<>();
        for (String step : all("(?m)^\\d\\. `(\\w+)`", section(title))) {
            JavaClass next = named(step);
            assertThat(reached.isEmpty() || reached.stream().anyMatch(before -> reaches(before, next)))
                    .as("%s: a step before %s uses it, or an interface of it", title, step)
                    .isTrue();
            reached.add(next);
        }
        assertThat(reached).hasSizeGreaterThan(5);
    }

    @Test
    void aClaimIsUnderstoodFromEightClasses() {
        assertThat(all("(?m)^\\d\\. `(\\w+)`", section("The way of a claim"))).hasSizeLessThanOrEqualTo(8);
    }

    @Test
    void everyClassThatIsNamedExists() {
        assertThat(all("(\\b(?:Postgres|SqlServer|Table)[A-Z]\\w+|\\b[A-Z]\\w+Loop|(?<=`)[A-Z]\\w+(?=`))\\b", page))
                .hasSizeGreaterThan(40)
                .allSatisfy(name -> assertThat(named(name)).isNotNull());
    }

    private static boolean reaches(JavaClass before, JavaClass next) {
        Set<JavaClass> used = new TreeSet<>((a, b) -> a.getName().compareTo(b.getName()));
        Stream.of(
                        Stream.of(before),
                        before.getAllRawSuperclasses().stream(),
                        OURS.stream().filter(type -> isInside(type, before)))
                .flatMap(types -> types)
                .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                .map(Dependency::getTargetClass)
                .forEach(used::add);
        return used.contains(next)
                || Stream.concat(next.getAllRawInterfaces().stream(), next.getAllRawSuperclasses().stream())
                        .anyMatch(used::contains)
                || used.stream().anyMatch(type -> isInside(next, type));
    }

    private static boolean isInside(JavaClass type, JavaClass outer) {
        return type.getName().startsWith(outer.getName() + "$");
    }

    private static JavaClass named(String simpleName) {
        List<JavaClass> found = OURS.stream()
                .filter(type -> type.getSimpleName().equals(simpleName))
                .toList();
        assertThat(found).as("classes called %s", simpleName).isNotEmpty();
        return found.get(0);
    }

    /** The modules of ours that a module needs at run time. */
    private static Set<String> uses(String pom) {
        Set<String> uses = new TreeSet<>();
        for (String dependency : all("(?s)<dependency>(.*?)</dependency>", pom)) {
            if (dependency.contains("<groupId>dev.outbox</groupId>") && !dependency.contains("<scope>test</scope>")) {
                uses.addAll(all("<artifactId>(.*?)</artifactId>", dependency));
            }
        }
        return uses;
    }

    private Stream<String[]> rows(String title) {
        return section(title).lines().filter(line -> line.startsWith("| `")).map(line -> line.split("\\|", -1));
    }

    private String section(String title) {
        int start = page.indexOf("\n## " + title + "\n");
        assertThat(start).as("section %s", title).isNotNegative();
        int end = page.indexOf("\n## ", start + 1);
        return page.substring(start, end < 0 ? page.length() : end);
    }

    private static List<String> names(String cell) {
        return NAMED.matcher(cell).results().map(match -> match.group(1)).toList();
    }

    private static List<String> all(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map((MatchResult match) -> match.group(1))
                .distinct()
                .toList();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new IllegalStateException("cannot read " + file, e);
        }
    }
}
