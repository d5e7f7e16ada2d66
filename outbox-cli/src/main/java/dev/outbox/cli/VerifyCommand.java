package dev.outbox.cli;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.migrations.TableReport;
import picocli.CommandLine.Command;

@Command(
        name = "verify",
        description = "Checks whether the tables are as the library needs them in their phase; exit code 1 if not.")
final class VerifyCommand extends MigrationCommand {
    VerifyCommand(Environment environment) {
        super(environment);
    }

    @Override
    int run(HikariDataSource dataSource) {
        int problems = 0;
        for (MigratedTable table : present(dataSource)) {
            TableReport report = upgrade(table).report(dataSource);
            output().json(report);
            say(report);
            problems += report.problems().size();
        }
        output().say(
                        problems == 0
                                ? output().styled(Style.GREEN, "nothing is wrong")
                                : output().styled(Style.RED, "wrong: " + problems));
        return problems == 0 ? ExitCode.OK : ExitCode.FAILED;
    }
}
