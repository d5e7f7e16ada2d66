package dev.outbox.cli;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Backfill;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "backfill",
        description =
                "Fills the new columns of rows that are older than they are, in small transactions. It may be stopped at any"
                        + " time; started again, it continues where it was.")
final class BackfillCommand extends MigrationCommand {
    @Option(names = "--batch", paramLabel = "<rows>", description = "Rows per transaction. Default: 1000.")
    private @Nullable Integer batch;

    @Option(names = "--pause", paramLabel = "<time>", description = "Pause after each transaction. Default: 10ms.")
    private @Nullable Duration pause;

    @Option(
            names = "--max-dead-tuples",
            paramLabel = "<rows>",
            description = "Wait while the table has more dead rows than this for vacuum to remove. Default: no limit.")
    private @Nullable Long maxDeadTuples;

    @Option(
            names = "--max-lag",
            paramLabel = "<time>",
            description = "Wait while a standby is further behind than this. Default: 10s.")
    private @Nullable Duration maxLag;

    BackfillCommand(Environment environment) {
        super(environment);
    }

    /** A table for scripts. */
    record Completed(String table, long rows) {}

    @Override
    int run(HikariDataSource dataSource) {
        for (MigratedTable table : present(dataSource)) {
            Phase phase = upgrade(table).phase(dataSource);
            if (phase == Phase.LEGACY || phase == Phase.CLEAN) {
                output().json(new Completed(table.name(), 0));
                output().say(table.name() + ": is in " + phase
                        + "; there is nothing to backfill before phase 1 or after" + " phase 3");
                continue;
            }
            ProgressBar bar = new ProgressBar(environment, output());
            long rows = settings(changingUpgrade(table, dataSource).backfill())
                    .listener(bar::show)
                    .run(dataSource);
            bar.end();
            output().json(new Completed(table.name(), rows));
            output().say(String.format(java.util.Locale.ROOT, "%s: %,d rows completed", table.name(), rows));
        }
        return ExitCode.OK;
    }

    private Backfill settings(Backfill backfill) {
        Backfill set = batch == null ? backfill : backfill.batch(batch);
        set = pause == null ? set : set.pause(pause);
        set = maxDeadTuples == null ? set : set.maxDeadTuples(maxDeadTuples);
        return maxLag == null ? set : set.maxReplicationLag(maxLag);
    }
}
