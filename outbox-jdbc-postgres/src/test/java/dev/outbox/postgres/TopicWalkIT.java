package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.WorkItem;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A poller of one topic beside a large backlog of another, whose poller is down. */
class TopicWalkIT {
    private static final ClaimRequest OWN = new ClaimRequest(10, Duration.ofMinutes(5), 10, Set.of("own"), "me");

    @Test
    void aSweepThatTakesSeveralClaimsIsNotBegunAnewBeforeItIsThrough() {
        try (OutboxDatabase database = new OutboxDatabase()) {
            AtomicLong ticker = new AtomicLong();
            Outbox outbox = PostgresOutbox.builder(database.pool())
                    .table(database.newTable())
                    .ticker(ticker::get)
                    .build();
            database.commit(
                    outbox, Collections.nCopies(13_000, Message.to("foreign").payload("")));
            database.commit(outbox, Message.to("own").id("mine").payload(""));
            Source source = outbox.source();

            List<String> claimed = new ArrayList<>();
            for (int claim = 0; claim < 10; claim++) {
                source.claim(OWN).items().stream().map(WorkItem::messageId).forEach(claimed::add);
                ticker.addAndGet(Duration.ofSeconds(2).toNanos()); // a sweep would be due
            }

            assertThat(claimed).containsExactly("mine");
        }
    }
}
