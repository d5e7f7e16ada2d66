package dev.outbox.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import dev.outbox.architecture.fixture.Exposes;
import dev.outbox.architecture.fixture.internal.Hidden;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Shows that each rule fails where it should: on classes that break it, and on no classes at all. */
class RulesTest {
    private static final JavaClasses OFFENDERS =
            new ClassFileImporter().importPackages("dev.outbox.architecture.fixture");
    private static final JavaClasses NOTHING = new ClassFileImporter().importClasses(List.of());

    @Test
    void useOfAnInternalPackageOutsideTheLibrariesIsFound() {
        assertFailsNaming(Rules.onlyLibrariesUseInternalPackages(), Hidden.class.getName());
    }

    @Test
    void everyWayToExposeAnInternalTypeIsFound() {
        ArchRule rule = Rules.publicTypesDoNotExposeInternalTypes();

        assertFailsNaming(rule, Exposes.class.getName() + ".field");
        assertFailsNaming(rule, Exposes.class.getName() + ".returned()");
        assertFailsNaming(rule, Exposes.class.getName() + ".taken(");
        assertFailsNaming(rule, Exposes.class.getName() + ".nested()");
        assertFailsNaming(rule, Exposes.class.getName() + ".array()");
        assertThatThrownBy(() -> rule.check(OFFENDERS)).hasMessageNotContaining(Exposes.class.getName() + ".ownUse()");
    }

    @Test
    void aForeignDependencyIsFound() {
        assertFailsNaming(
                Rules.dependsOnlyOnTheJdkAndSlf4j(Modules.in("outbox-architecture")),
                "org.assertj.core.api.Assertions");
    }

    @Test
    void aPackageInTwoModulesIsFound() {
        JavaClasses neighbours = new ClassFileImporter().importClasses(Rules.class, Modules.class);

        assertThat(Rules.packagesInSeveralModules(neighbours, type -> type.getSimpleName()))
                .containsExactly(Map.entry("dev.outbox.architecture", Set.of("Modules", "Rules")));
        assertThat(Rules.packagesInSeveralModules(neighbours, Modules::of)).isEmpty();
        assertThatThrownBy(() -> Rules.packagesInSeveralModules(NOTHING, Modules::of))
                .hasMessageContaining("no classes");
    }

    @Test
    void theModuleOfAClassIsReadFromItsLocation() {
        assertThat(Modules.ofLocation("jar:file:/m2/outbox-jdbc-postgres-0.1.0-SNAPSHOT.jar!/dev/outbox/A.class"))
                .isEqualTo("outbox-jdbc-postgres");
        assertThat(Modules.ofLocation("file:/outbox-java/outbox-jdbc/target/classes/dev/outbox/A.class"))
                .isEqualTo("outbox-jdbc");
        assertThatThrownBy(() -> Modules.ofLocation("file:/elsewhere/A.class")).hasMessageContaining("no module");
    }

    @Test
    void aCycleIsFound() {
        assertFailsNaming(Rules.noPackageCycles(List.of()), "fixture.left");
    }

    private static void assertFailsNaming(ArchRule rule, String offender) {
        assertThatThrownBy(() -> rule.check(OFFENDERS))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(offender);
        assertThatThrownBy(() -> rule.check(NOTHING)).isInstanceOf(AssertionError.class);
    }
}
