package dev.outbox.cli;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.migrations.TableReport;
import dev.outbox.migrations.Upgrade;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;

/** A command about the layout of the tables. */
abstract class MigrationCommand extends TableCommand {
    @Mixin
    private final MigrateOptions options = new MigrateOptions();

    MigrationCommand(Environment environment) {
        super(environment);
    }

    /** The tables that the command is about, whether they exist or not. */
    final List<MigratedTable> tables(HikariDataSource dataSource) {
        List<MigratedTable> tables = new ArrayList<>();
        for (TableKind kind : TableKind.values()) {
            if (options.covers(kind)) {
                String name = kind == TableKind.OUTBOX ? outboxTable() : inboxTable();
                tables.add(MigratedTable.of(dataSource, kind, name));
            }
        }
        return tables;
    }

    /** The tables that exist: at least one, and each that was asked for by name. */
    final List<MigratedTable> present(HikariDataSource dataSource) {
        List<MigratedTable> all = tables(dataSource);
        List<MigratedTable> present = all.stream()
                .filter(table -> table.exists() || options.names(table.kind()))
                .toList();
        List<String> missing = (present.isEmpty() ? all : present)
                .stream()
                        .filter(table -> !table.exists())
                        .map(table -> table.kind() + " table \"" + table.name() + "\"")
                        .toList();
        if (!missing.isEmpty()) {
            throw CliException.notFound("there is no " + String.join(" and no ", missing)
                    + "; name it with --outbox or --inbox, as schema.table if it is in a schema that the database"
                    + " does not search by default, or create it with outbox migrate apply --install");
        }
        return present;
    }

    final Upgrade upgrade(MigratedTable table) {
        return options.upgrade(table);
    }

    /** The upgrade for a command that changes the table: a legacy inbox needs the name of its consumer. */
    final Upgrade changingUpgrade(MigratedTable table, HikariDataSource dataSource) {
        Upgrade upgrade = upgrade(table);
        if (table.kind() == TableKind.INBOX && !options.nameConsumer() && upgrade.phase(dataSource) != Phase.CLEAN) {
            throw CliException.usage("inbox \"" + table.name()
                    + "\" is a legacy table, which had one consumer; say which with --consumer");
        }
        return upgrade;
    }

    /** Says for people which phase a table is in and what prevents the next one. */
    final void say(TableReport report) {
        String since = report.since().map(time -> " since " + time).orElse("");
        output().say(output().styled(Style.BOLD, report.table()) + ": " + report.phase() + since
                + (report.phase() == report.next() ? "" : ", next " + report.next()));
        report.findings().forEach(finding -> {
            String mark = finding.wrong() ? output().styled(Style.RED, "wrong") : "note";
            @Nullable
            String blocks = finding.blocks().isEmpty()
                    ? null
                    : String.join(
                            ", ",
                            finding.blocks().stream()
                                    .sorted()
                                    .map(Phase::toString)
                                    .toList());
            output().say("  " + mark + ": " + TextTable.printable(finding.text())
                    + (blocks == null ? "" : " (in the way of " + blocks + ")"));
        });
    }
}
