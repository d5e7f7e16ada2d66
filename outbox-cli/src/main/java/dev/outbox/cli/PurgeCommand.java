package dev.outbox.cli;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.admin.Admin;
import dev.outbox.admin.PurgeResult;
import dev.outbox.jdbc.TableKind;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "purge",
        description = "Removes items that have been Done for longer, in small batches with rests in between.")
final class PurgeCommand extends TableCommand {
    @Option(names = "--older-than", required = true, paramLabel = "<time>", description = "90s, 15m, 2h, 7d.")
    private Duration olderThan = Duration.ZERO;

    @Option(names = "--in", paramLabel = "<table>", description = "outbox or inbox. Default: ${DEFAULT-VALUE}.")
    private TableKind kind = TableKind.OUTBOX;

    @Option(
            names = "--max-redelivery",
            paramLabel = "<time>",
            description =
                    "The longest time after which a message may be redelivered to the inbox. Default: 7d, as in an inbox.")
    private @Nullable Duration maxRedelivery;

    @Mixin
    private final Confirmation confirmation = new Confirmation();

    PurgeCommand(Environment environment) {
        super(environment);
    }

    @Override
    int run(HikariDataSource dataSource) {
        Admin admin = maxRedelivery == null
                ? admin(dataSource)
                : adminOptions(dataSource).maxRedelivery(maxRedelivery).build();
        PurgeResult would = admin.purge(kind, olderThan, true);
        if (confirmation.isDryRun() || would.count() == 0) {
            print(would);
            return ExitCode.OK;
        }
        if (confirmation.isMissing(environment)) {
            print(would);
        }
        confirmation.require(environment, "Remove " + number(would) + " from the " + kind + "?");
        print(admin.purge(kind, olderThan, false));
        return ExitCode.OK;
    }

    private void print(PurgeResult result) {
        output().json(result);
        output().say((result.dryRun() ? "would be removed: " : "removed: ") + number(result));
    }

    private static String number(PurgeResult result) {
        return String.format(
                Locale.ROOT,
                "%s%,d %s",
                result.atLeast() ? "at least " : "",
                result.count(),
                result.count() == 1 ? "item" : "items");
    }
}
