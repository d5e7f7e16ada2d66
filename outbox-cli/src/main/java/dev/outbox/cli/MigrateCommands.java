package dev.outbox.cli;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.TableReport;
import dev.outbox.migrations.Upgrade;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code outbox migrate …}: how tables come to their layout. */
final class MigrateCommands {
    private MigrateCommands() {}

    @Command(name = "migrate", description = "Installs tables, and takes legacy ones to the canonical layout.")
    static final class Group {}

    /** Phases as people write them. */
    static final class Phases implements ITypeConverter<Phase> {
        @Override
        public Phase convert(String text) {
            for (Phase phase : Phase.values()) {
                String number = phase.toString().replace("phase ", "");
                if (phase.name().equals(text.toUpperCase(Locale.ROOT)) || number.equals(text)) {
                    return phase;
                }
            }
            throw new TypeConversionException(
                    "\"" + text + "\" is no phase; write 1 (additive), 2 (dual), 3 (flipped), renaming or 4 (clean)");
        }
    }

    /** What is to be done: one of them. */
    static final class What {
        @Option(names = "--install", description = "Create the tables that are missing.")
        private boolean install;

        @Option(names = "--admin", description = "Create the tables of audit and pollers.")
        private boolean admin;

        @Option(names = "--lookup", description = "Create the indexes that outbox find needs on large tables.")
        private boolean lookup;

        @Option(
                names = "--phase",
                converter = Phases.class,
                paramLabel = "<phase>",
                description = "Take legacy tables to this phase: 1 to 4, or renaming between 3 and 4.")
        private @Nullable Phase phase;
    }

    /** The schemas that these tables are in; an empty one is that in force. */
    private static Set<String> schemas(List<MigratedTable> tables) {
        return tables.stream()
                .map(table -> table.name().contains(".")
                        ? table.name().substring(0, table.name().indexOf('.'))
                        : "")
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** A table for scripts. */
    record Planned(
            TableKind kind,
            String table,
            @Nullable Phase phase,
            @Nullable Phase next,
            List<String> inTheWay) {}

    @Command(name = "status", description = "Which phase each table is in, and what is in the way to the next.")
    static final class Status extends MigrationCommand {
        Status(Environment environment) {
            super(environment);
        }

        @Override
        int run(HikariDataSource dataSource) {
            for (MigratedTable table : present(dataSource)) {
                TableReport report = upgrade(table).report(dataSource);
                output().json(report);
                say(report);
            }
            return ExitCode.OK;
        }
    }

    @Command(name = "plan", description = "What is to be done next for each table, and by which command.")
    static final class Plan extends MigrationCommand {
        Plan(Environment environment) {
            super(environment);
        }

        @Override
        int run(HikariDataSource dataSource) {
            for (MigratedTable table : tables(dataSource)) {
                if (!table.exists()) {
                    output().json(new Planned(table.kind(), table.name(), null, null, List.of()));
                    output().say(table.name() + ": missing; outbox migrate apply --install --only " + table.kind());
                    continue;
                }
                plan(table, upgrade(table).report(dataSource));
            }
            return ExitCode.OK;
        }

        private void plan(MigratedTable table, TableReport report) {
            boolean clean = report.phase() == report.next();
            List<String> inTheWay = report.obstacles(report.next()).stream()
                    .map(finding -> finding.text())
                    .toList();
            output().json(new Planned(
                    table.kind(), table.name(), report.phase(), clean ? null : report.next(), inTheWay));
            if (clean) {
                output().say(table.name() + ": " + report.phase() + "; nothing to do");
                return;
            }
            output().say(table.name() + ": " + report.phase() + " to " + report.next()
                    + "; outbox migrate apply --phase "
                    + report.next().name().toLowerCase(Locale.ROOT) + " --only " + table.kind());
            inTheWay.forEach(obstacle -> output().say("  in the way: " + TextTable.printable(obstacle)));
        }
    }

    @Command(name = "render", description = "Prints the SQL that apply would run, for a DBA to read and run.")
    static final class Render extends MigrationCommand {
        @ArgGroup(multiplicity = "1")
        private final What what = new What();

        Render(Environment environment) {
            super(environment);
        }

        @Override
        int run(HikariDataSource dataSource) throws SQLException {
            Phase phase = what.phase;
            Database database = database(dataSource);
            if (what.admin) {
                for (String schema : schemas(tables(dataSource))) {
                    output().raw(OutboxMigrations.renderAdmin(database, schema));
                }
                return ExitCode.OK;
            }
            for (MigratedTable table : what.install ? tables(dataSource) : present(dataSource)) {
                output().raw(
                                phase != null
                                        ? changingUpgrade(table, dataSource).render(dataSource, phase)
                                        : what.lookup
                                                ? OutboxMigrations.renderLookup(database, table.name())
                                                : table.kind() == TableKind.OUTBOX
                                                        ? OutboxMigrations.render(database, table.name())
                                                        : OutboxMigrations.renderInbox(database, table.name()));
            }
            return ExitCode.OK;
        }

        private static Database database(HikariDataSource dataSource) throws SQLException {
            try (Connection connection = dataSource.getConnection()) {
                return Database.of(connection);
            }
        }
    }

    @Command(name = "apply", description = "Creates tables, or takes legacy ones to a phase. May be repeated.")
    static final class Apply extends MigrationCommand {
        @ArgGroup(multiplicity = "1")
        private final What what = new What();

        @Mixin
        private final Confirmation confirmation = new Confirmation();

        Apply(Environment environment) {
            super(environment);
        }

        @Override
        int run(HikariDataSource dataSource) {
            Phase phase = what.phase;
            if (what.install) {
                install(dataSource);
            }
            if (what.admin) {
                installAdmin(dataSource);
            }
            if (what.lookup) {
                installLookup(dataSource);
            }
            if (phase == null) {
                return ExitCode.OK;
            }
            for (MigratedTable table : present(dataSource)) {
                apply(changingUpgrade(table, dataSource), phase, dataSource);
            }
            return ExitCode.OK;
        }

        private void install(HikariDataSource dataSource) {
            for (MigratedTable table : tables(dataSource)) {
                if (confirmation.isDryRun()) {
                    sayWhetherMissing(dataSource, table.name());
                    continue;
                }
                boolean created = table.kind() == TableKind.OUTBOX
                        ? OutboxMigrations.installIfMissing(dataSource, table.name())
                        : OutboxMigrations.installInboxIfMissing(dataSource, table.name());
                output().say(table.name() + (created ? ": created" : ": is there already"));
            }
        }

        private void installAdmin(HikariDataSource dataSource) {
            for (String schema : schemas(tables(dataSource))) {
                if (confirmation.isDryRun()) {
                    String prefix = schema.isEmpty() ? "" : schema + ".";
                    sayWhetherMissing(dataSource, prefix + "outbox_audit");
                    sayWhetherMissing(dataSource, prefix + "outbox_pollers");
                    continue;
                }
                boolean created = OutboxMigrations.installAdmin(dataSource, schema);
                output().say("outbox_audit, outbox_pollers: " + (created ? "created" : "are there already"));
            }
        }

        private void sayWhetherMissing(HikariDataSource dataSource, String table) {
            boolean there = OutboxMigrations.isInstalled(dataSource, table);
            output().say(table + (there ? ": is there already" : ": would be created"));
        }

        private void installLookup(HikariDataSource dataSource) {
            for (MigratedTable table : present(dataSource)) {
                if (confirmation.isDryRun()) {
                    List<String> missing = OutboxMigrations.missingLookup(dataSource, table.name());
                    output().say(table.name()
                            + (missing.isEmpty()
                                    ? ": lookup indexes are there already"
                                    : ": would be created: " + String.join(", ", missing)));
                    continue;
                }
                OutboxMigrations.installLookup(dataSource, table.name());
                output().say(table.name() + ": lookup indexes are there");
            }
        }

        private void apply(Upgrade upgrade, Phase phase, HikariDataSource dataSource) {
            TableReport before = upgrade.report(dataSource);
            // In the same phase the step is taken again, which mends what is missing of it.
            if (phase.before(before.phase()) || before.phase() == Phase.CLEAN) {
                output().json(before);
                output().say(before.table() + ": is in " + before.phase() + " already");
                return;
            }
            if (phase == Phase.RENAMING && before.phase() == Phase.FLIPPED && before.next() == Phase.CLEAN) {
                output().json(before);
                output().say(before.table() + ": no old column stands in the way of a name; go on to phase 4");
                return;
            }
            upgrade.requireReady(dataSource, phase);
            if (confirmation.isDryRun()) {
                output().say(before.table()
                        + (before.phase() == phase
                                ? ": is in " + phase + "; its step would be taken again"
                                : ": would go from " + before.phase() + " to " + phase));
                return;
            }
            if (before.phase() != phase && Phase.FLIPPED.before(phase)) { // from here there is no way back
                confirmation.require(environment, "Drop the old columns of " + before.table() + "?");
            }
            upgrade.apply(dataSource, phase);
            TableReport after = upgrade.report(dataSource);
            output().json(after);
            say(after);
        }
    }
}
