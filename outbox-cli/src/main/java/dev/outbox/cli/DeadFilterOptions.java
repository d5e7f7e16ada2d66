package dev.outbox.cli;

import dev.outbox.admin.DeadFilter;
import dev.outbox.jdbc.TableKind;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which dead letters: those that meet every condition given. */
final class DeadFilterOptions {
    @Option(names = "--in", paramLabel = "<table>", description = "Only of this table: ${COMPLETION-CANDIDATES}.")
    private @Nullable TableKind kind;

    @Option(names = "--topic", paramLabel = "<topic>", description = "Only of this topic.")
    private @Nullable String topic;

    @Option(names = "--key", paramLabel = "<key>", description = "Only of this key.")
    private @Nullable String key;

    @Option(names = "--tenant", paramLabel = "<tenant>", description = "Only of this tenant.")
    private @Nullable String tenant;

    @Option(
            names = "--error",
            paramLabel = "<text>",
            description = "Only if the last error contains this, case-insensitively.")
    private @Nullable String error;

    @Option(names = "--older-than", paramLabel = "<time>", description = "Only if dead for longer: 90s, 15m, 2h, 7d.")
    private @Nullable Duration olderThan;

    DeadFilter filter() {
        return new DeadFilter(kind, topic, key, tenant, error, olderThan);
    }

    /** Matches only what was dead this long ago already: the operator has not confirmed what died since. */
    void before(Duration sinceAsked) {
        olderThan = olderThan == null ? sinceAsked : olderThan.plus(sinceAsked);
    }

    boolean areGiven() {
        return !filter().equals(DeadFilter.all());
    }
}
