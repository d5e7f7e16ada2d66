package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.MAX_ATTEMPTS;
import static dev.outbox.testkit.SourceScenario.TOPIC;
import static dev.outbox.testkit.SourceScenario.atMost;
import static dev.outbox.testkit.SourceScenario.message;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Priority;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a claim leases, and what it says about it. */
interface ClaimContract {
    @Test
    default void anEmptySourceClaimsNothingAndSaysThatThereIsNoMore(SourceScenario store) {
        Claim claim = store.newSource().claim(atMost(10));

        assertThat(claim.items()).isEmpty();
        assertThat(claim.dead()).isEmpty();
        assertThat(claim.more()).isFalse();
    }

    @Test
    default void aSourceThatWasDrainedFindsWhatIsEnqueuedLater(SourceScenario store) {
        Source source = store.newSource();
        store.enqueue(message());
        store.settleDone(source, store.claimAll(source).leases());

        String later = store.enqueue(message());

        assertThat(store.claimAll(source).ids()).containsExactly(later);
    }

    @Test
    default void itemsComeInTheOrderTheyWereEnqueued(SourceScenario store) {
        store.assumeHas(Feature.SEQUENCES);
        List<String> ids = store.enqueueAll(times(50, message()));

        Claims claims = store.claimAll(store.newSource());

        assertThat(claims.ids()).containsExactlyElementsOf(ids);
        assertThat(claims.items()).extracting(WorkItem::sequence).isSorted().doesNotHaveDuplicates();
    }

    @Test
    default void aTextMessageComesWithAllItsFields(SourceScenario store) {
        Message message = Message.to("Orders.Placed/v1 ü")
                .id("order-4711:placed")
                .key("customer 'O\"Hara\\' 🚀")
                .payload("{\"text\":\"line 1\nline 2\t\\u0041 ä 🚀 'quoted' $1 ?\"}")
                .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                .correlationId("correlation ä")
                .tenantId("tenant-7")
                .contentType("application/json; charset=utf-8")
                .priority(Priority.HIGH);
        String id = store.enqueue(message);

        Claim claim = store.claimSome(store.newSource(), atMost(1));

        assertThat(claim.items()).singleElement().satisfies(item -> {
            assertThat(item.id()).isEqualTo(id);
            assertThat(item.messageId()).isEqualTo("order-4711:placed");
            assertThat(item.attempt()).isEqualTo(1);
            assertThat(item.topic()).isEqualTo(message.topic());
            assertThat(item.key()).isEqualTo(message.key());
            assertThat(item.message().isBinary()).isFalse();
            assertThat(item.payload()).isEqualTo(message.payload());
            assertThat(item.headers()).isEqualTo(message.headers());
            assertThat(item.correlationId()).isEqualTo("correlation ä");
            assertThat(item.tenantId()).isEqualTo("tenant-7");
            assertThat(item.contentType()).isEqualTo("application/json; charset=utf-8");
            assertThat(item.message().priority()).isEqualTo(Priority.HIGH);
        });
    }

    @Test
    default void aMessageWithNothingOptionalComesWithNothingAdded(SourceScenario store) {
        store.enqueue(Message.to(TOPIC).payload(""));

        Claim claim = store.claimSome(store.newSource(), atMost(1));

        assertThat(claim.items()).singleElement().satisfies(item -> {
            assertThat(item.messageId()).isNotBlank();
            assertThat(item.key()).isNull();
            assertThat(item.payload()).isEmpty();
            assertThat(item.headers()).isEmpty();
            assertThat(item.correlationId()).isNull();
            assertThat(item.tenantId()).isNull();
            assertThat(item.contentType()).isNull();
            assertThat(item.message().priority()).isEqualTo(Priority.NORMAL);
        });
    }

    @Test
    default void aBinaryPayloadComesByteByByte(SourceScenario store) {
        byte[] everyByte = new byte[256];
        for (int i = 0; i < everyByte.length; i++) {
            everyByte[i] = (byte) i;
        }
        store.enqueueAll(Message.to(TOPIC).payload(everyByte), Message.to(TOPIC).payload(new byte[0]));

        List<WorkItem> items = store.claimAll(store.newSource()).items();

        assertThat(items).hasSize(2).allMatch(item -> item.message().isBinary());
        assertThat(items.get(0).payloadBytes()).isEqualTo(everyByte);
        assertThat(items.get(1).payloadBytes()).isEmpty();
    }

    @Test
    default void headersMayHoldAnyCharacter(SourceScenario store) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("empty", "");
        headers.put("quotes", "\"double\" 'single' `back`");
        headers.put("escapes", "back\\slash \\n \\u0041 \\\"");
        headers.put("lines", "one\ntwo\r\nthree\ttab");
        headers.put("separators", "a=b;c:d,e|f{g}[h]");
        headers.put("control", "\u0001\u001f\u007f");
        headers.put("Ünïcode näme 🚀", "\u2028 ß 漢字 🚀");
        headers.put("odd \"name\" = {\\}", "x");
        headers.put("UPPER", "upper");
        headers.put("upper", "lower");
        headers.put("long", "ä".repeat(Message.MAX_HEADER_VALUE));
        store.enqueue(message().headers(headers));

        Claim claim = store.claimSome(store.newSource(), atMost(1));

        assertThat(claim.items()).singleElement().extracting(WorkItem::headers).isEqualTo(headers);
    }

    @Test
    default void theMessageIdIsTheSameOnEveryAttempt(SourceScenario store) {
        Source source = store.newSource();
        store.enqueueAll(message(), message().id("given"));
        List<String> first =
                store.claimAll(source).items().stream().map(WorkItem::messageId).toList();

        store.advance(SourceScenario.PAST_LEASE);
        List<WorkItem> again = store.claimAll(source).items();

        assertThat(again).extracting(WorkItem::attempt).containsOnly(2);
        assertThat(again).extracting(WorkItem::messageId).containsExactlyElementsOf(first);
        assertThat(first.get(1)).isEqualTo("given");
    }

    @Test
    default void aClaimLeasesNoMoreThanItWasAskedFor(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(5, message()));
        Source source = store.newSource();

        Claim first = store.claimSome(source, atMost(2));
        Claim second = store.claimSome(source, atMost(2));
        Claim third = store.claimSome(source, atMost(2));

        assertThat(first.more()).as("more after 2 of 5").isTrue();
        assertThat(new Claims(List.of(first, second, third)).ids()).containsExactlyElementsOf(ids);
        assertThat(first.items()).hasSize(2);
        assertThat(second.items()).hasSize(2);
        assertThat(third.items()).hasSize(1);
    }

    @Test
    default void claimedItemsAreProcessingAndTheirAttemptIsCounted(SourceScenario store) {
        String id = store.enqueue(message());
        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.READY, 0, null));

        store.claimAll(store.newSource());

        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.PROCESSING, 1, null));
    }

    @Test
    default void claimedItemsAreNotClaimableBySomebodyElseNorAgain(SourceScenario store) {
        store.enqueueAll(times(5, message()));
        Source source = store.newSource();
        store.claimAll(source);

        store.aMomentLater();

        assertThat(store.claimAll(store.newSource()).ids()).isEmpty();
        assertThat(store.claimAll(source).ids()).isEmpty();
    }

    @Test
    default void theClaimsOfTwoSourcesAreDisjoint(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(100, message()));
        Source one = store.newSource();
        Source two = store.newSource();

        List<Claim> claims = new ArrayList<>();
        for (int round = 0; round < 10; round++) {
            claims.add(store.claimSome(one, atMost(7)));
            claims.add(store.claimSome(two, atMost(7)));
        }

        assertThat(new Claims(claims).ids()).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(ids);
    }

    @Test
    default void everyClaimDrawsAFreshOwnerToken(SourceScenario store) {
        store.enqueueAll(times(6, message()));
        Source one = store.newSource();
        Source two = store.newSource();

        List<Claim> claims = List.of(
                store.claimSome(one, atMost(2)), store.claimSome(one, atMost(2)), store.claimSome(two, atMost(2)));

        assertThat(claims).extracting(Claim::ownerToken).doesNotHaveDuplicates();
    }

    @Test
    default void anItemThatIsReadyIsClaimedHoweverOftenItWasTried(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
            store.settle(source, Settlement.retry(store.claimAll(source).lease(id), Duration.ZERO, "again"));
            store.aMomentLater();
        }

        assertThat(store.claimAll(source).items())
                .as("whether a retry is the last one is the poller's decision")
                .extracting(WorkItem::attempt)
                .containsExactly(MAX_ATTEMPTS + 1);
    }
}
