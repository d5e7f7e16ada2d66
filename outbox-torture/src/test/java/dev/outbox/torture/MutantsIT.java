package dev.outbox.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.delivery.Poller;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.testkit.PostgresExtension;
import java.sql.Connection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A mutant that finds nothing to change any more is noticed here, not only when somebody runs all of them. */
class MutantsIT {
    private static final Tables CANONICAL = new Tables(1);
    private static final Tables LEGACY = new Tables(2);

    @RegisterExtension
    static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(dataSource -> {
        CANONICAL.create(dataSource, false);
        LEGACY.create(dataSource, true);
    });

    @Test
    void everyMutantOfAStatementStillChangesOne(DataSource dataSource) throws Exception {
        Set<String> statements = new LinkedHashSet<>();
        DataSource watched = Rewriting.each(dataSource, sql -> {
            statements.add(sql);
            return sql;
        });
        deliverOneOfEach(watched);
        Upgrade.outbox(LEGACY.outbox()).apply(watched, Phase.ADDITIVE);

        assertThat(rewriting(dataSource)).isNotEmpty();
        assertThat(rewriting(dataSource))
                .filteredOn(mutant -> statements.stream()
                        .allMatch(sql -> sent(mutant, dataSource, sql).equals(sql)))
                .as("mutants that change no statement")
                .isEmpty();
    }

    private static void deliverOneOfEach(DataSource dataSource) throws Exception {
        Outbox outbox =
                PostgresOutbox.builder(dataSource).table(CANONICAL.outbox()).build();
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            Message message = Message.to("topic").payload("");
            outbox.enqueueAll(tx, List.of(message, message.key("key")));
            tx.commit();
        }
        Poller poller = outbox.poller().to(item -> {}).build();
        while (poller.pollOnce() > 0) {}
    }

    private static List<MutantRun.Mutant> rewriting(DataSource dataSource) {
        return MutantRun.all().stream()
                .filter(mutant -> Variant.named(mutant.variant().getName()).dataSource(dataSource) != dataSource)
                .toList();
    }

    /** What becomes of a statement on its way to the database. */
    private static String sent(MutantRun.Mutant mutant, DataSource dataSource, String sql) {
        String[] sent = new String[1];
        DataSource end = Rewriting.each(dataSource, changed -> {
            sent[0] = changed;
            return "SELECT 1";
        });
        try (Connection connection =
                Variant.named(mutant.variant().getName()).dataSource(end).getConnection()) {
            connection.prepareStatement(sql).close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return sent[0];
    }
}
