package dev.outbox.cli;

import dev.outbox.jdbc.TableKind;
import dev.outbox.migrations.Upgrade;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which tables a migration is about. */
final class MigrateOptions {
    @Option(names = "--only", paramLabel = "<table>", description = "Only this one: ${COMPLETION-CANDIDATES}.")
    private @Nullable TableKind only;

    @Option(
            names = "--consumer",
            paramLabel = "<name>",
            description = "Whose the rows of a legacy inbox are; needed on the way of one to phase 4.")
    private @Nullable String consumer;

    @Option(
            names = "--refresh-interval",
            paramLabel = "<time>",
            description =
                    "How often the applications look for the phase. Default: 5s; phases 3 and 4 wait twice as long.")
    private @Nullable Duration refreshInterval;

    @Option(
            names = "--quiet-for",
            paramLabel = "<time>",
            description = "How long nobody may have written old columns alone before phase 3. Default: 10m.")
    private @Nullable Duration quietFor;

    boolean covers(TableKind kind) {
        return only == null || only == kind;
    }

    /** Whether the table was asked for by name, so that it must be there. */
    boolean names(TableKind kind) {
        return only == kind;
    }

    /** Whether it is known whose the rows of a legacy inbox are. */
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
