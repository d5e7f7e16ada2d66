package dev.outbox.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
    private static final JavaClasses OURS = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.outbox");

    @Test
    void everyModuleTakesPart() {
        Set<String> modules = new TreeSet<>();
        OURS.forEach(type -> modules.add(Modules.of(type)));

        assertThat(modules)
                .contains(
                        "outbox-admin",
                        "outbox-cli",
                        "outbox-core",
                        "outbox-jackson",
                        "outbox-jdbc",
                        "outbox-jdbc-postgres",
                        "outbox-jdbc-sqlserver",
                        "outbox-micrometer",
                        "outbox-migrations",
                        "outbox-opentelemetry",
                        "outbox-testkit",
                        "outbox-quickstart",
                        "outbox-benchmarks");
    }

    @Test
    void onlyLibrariesUseInternalPackages() {
        Rules.onlyLibrariesUseInternalPackages().check(OURS);
    }

    @Test
    void publicTypesDoNotExposeInternalTypes() {
        Rules.publicTypesDoNotExposeInternalTypes().check(OURS);
    }

    @Test
    void coreDependsOnlyOnTheJdkAndSlf4j() {
        Rules.dependsOnlyOnTheJdkAndSlf4j(Modules.in(Modules.CORE)).check(OURS);
    }

    @Test
    void noPackageSpansTwoModules() {
        assertThat(Rules.packagesInSeveralModules(OURS, Modules::of)).isEmpty();
    }

    /**
     * A queue names its source and its poller's builder, so that a user finds them: {@code outbox.poller()}. The interface
     * of the migrations names the class that each database has for it.
     */
    @Test
    void packagesHaveNoCyclesButTheseOnPurpose() {
        Rules.noPackageCycles(List.of(
                        new Rules.Edge("dev.outbox.WorkQueue", "dev.outbox.delivery.PollerBuilder"),
                        new Rules.Edge("dev.outbox.WorkQueue", "dev.outbox.spi.Source"),
                        new Rules.Edge(
                                "dev.outbox.admin.AdminDatabase", "dev.outbox.admin.internal.postgres.PostgresDialect"),
                        new Rules.Edge(
                                "dev.outbox.admin.AdminDatabase",
                                "dev.outbox.admin.internal.sqlserver.SqlServerDialect"),
                        new Rules.Edge(
                                "dev.outbox.migrations.internal.MigrationDialect",
                                "dev.outbox.migrations.internal.postgres.PostgresMigrations"),
                        new Rules.Edge(
                                "dev.outbox.migrations.internal.MigrationDialect",
                                "dev.outbox.migrations.internal.sqlserver.SqlServerMigrations")))
                .check(OURS);
    }
}
