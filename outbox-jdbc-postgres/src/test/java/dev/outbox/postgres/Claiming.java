package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/** The steps of tests that claim by hand, beside transactions of others. */
final class Claiming {
    static final Duration LEASE = Duration.ofMinutes(1);

    private Claiming() {}

    static Message message(String id) {
        return Message.to("claims").id(id).payload("x");
    }

    static ClaimRequest request(int count, Duration lease) {
        return new ClaimRequest(count, lease, 10, Set.of(), "it");
    }

    /** Claims until something comes or the source says there is nothing. */
    static Claim claim(Source source, int count) {
        Claim claim = source.claim(request(count, LEASE));
        while (claim.items().isEmpty() && claim.more()) {
            claim = source.claim(request(count, LEASE));
        }
        return claim;
    }

    /** Everything that can be leased now, by sequence, in claims of this size. */
    static List<String> all(Source source, int count) {
        List<WorkItem> items = new ArrayList<>();
        Claim claim;
        do {
            claim = source.claim(request(count, LEASE));
            items.addAll(claim.items());
        } while (claim.more());
        items.sort(Comparator.comparingLong(WorkItem::sequence));
        return items.stream().map(WorkItem::messageId).toList();
    }

    static List<String> ids(Claim claim) {
        return claim.items().stream().map(WorkItem::messageId).toList();
    }

    static void done(Source source, Claim claim) {
        assertThat(source.settle(claim.items().stream()
                                .map(item -> Settlement.done(claim.lease(item)))
                                .toList())
                        .lost())
                .isEmpty();
    }
}
