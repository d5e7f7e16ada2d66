package dev.outbox.cli;

import dev.outbox.jdbc.TableKind;
import dev.outbox.migrations.Upgrade;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say which tables a migration is about. */
final class MigrateOptions {
    @Option(names = "--only", paramLabel = "<table>", description = "Only this one: ${COMPLETION-CANDIDATES}.")
    private @Nullable TableKind only;

    @Option(
            names = "--consumer",
            paramLabel = "<name>",
            description = "The consumer that the rows of a legacy inbox belong to; needed until it is in phase 4.")
    private @Nullable String consumer;

    @Option(
            names = "--refresh-interval",
            paramLabel = "<time>",
            description =
                    "How often the applications look for the phase. Default: 5s; phases 3 and 4 wait for twice this time.")
    private @Nullable Duration refreshInterval;

    @Option(
            names = "--quiet-for",
            paramLabel = "<time>",
            description = "How long no application may have written old columns alone before phase 3. Default: 10m.")
    private @Nullable Duration quietFor;

    boolean covers(TableKind kind) {
        return only == null || only == kind;
    }

    /** Whether the table was asked for by name, so that it must be there. */
    boolean names(TableKind kind) {
        return only == kind;
    }

    /** Whether the consumer of a legacy inbox is given. */
    boolean nameConsumer() {
        return consumer != null;
    }

    Upgrade upgrade(MigratedTable table) {
        Upgrade upgrade = table.kind() == TableKind.OUTBOX
                ? Upgrade.outbox(table.name())
                : Upgrade.inbox(table.name(), consumer == null ? "" : consumer);
        upgrade = refreshInterval == null ? upgrade : upgrade.refreshInterval(refreshInterval);
        return quietFor == null ? upgrade : upgrade.quietFor(quietFor);
    }
}
