package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RoutesTest {
    private final List<String> delivered = new ArrayList<>();

    @Test
    void anItemGoesWhereItsTopicIsRouted() throws Exception {
        Routes routes = Destination.byTopic().route("a", to("A")).route("b", to("B"));

        routes.deliver(item("b"));
        routes.deliver(item("a"));

        assertThat(delivered).containsExactly("B:b", "A:a");
    }

    @Test
    void anItemWithoutARouteFailsAndTheErrorSaysWhatToDo() {
        Routes routes = Destination.byTopic().route("a", to("A"));

        assertThatThrownBy(() -> routes.deliver(item("A")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no route for topic A; add route(...) or otherwise(...), "
                        + "or restrict the poller with topics(...)");
        assertThat(delivered).isEmpty();
    }

    @Test
    void anItemWithoutARouteGoesToOtherwise() throws Exception {
        Routes routes = Destination.byTopic().otherwise(to("rest")).route("a", to("A"));

        routes.deliver(item("z"));
        routes.deliver(item("a"));

        assertThat(delivered).containsExactly("rest:z", "A:a");
    }

    @Test
    void aTopicTakesOneRoute() {
        Routes routes = Destination.byTopic().route("a", to("A"));

        assertThatThrownBy(() -> routes.route("a", to("B")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("topic a has a route already; each topic can have only one");
    }

    @Test
    void addingARouteLeavesTheOriginalAsItWas() {
        Routes base = Destination.byTopic();
        base.route("a", to("A"));
        base.otherwise(to("rest"));

        assertThatThrownBy(() -> base.deliver(item("a"))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void theFailureOfADestinationComesThroughAsItIs() {
        IOException down = new IOException("down");
        Routes routes = Destination.byTopic().route("a", item -> {
            throw down;
        });

        assertThatThrownBy(() -> routes.deliver(item("a"))).isSameAs(down);
    }

    @Test
    void topicAndDestinationAreChecked() {
        Routes routes = Destination.byTopic();

        assertThatThrownBy(() -> routes.route(" ", to("A"))).hasMessage("topic must not be blank");
        assertThatThrownBy(() -> routes.route("a", null)).hasMessage("destination must not be null");
        assertThatThrownBy(() -> routes.otherwise(null)).hasMessage("destination must not be null");
    }

    private Destination to(String name) {
        return item -> delivered.add(name + ":" + item.topic());
    }

    private static WorkItem item(String topic) {
        return new WorkItem("1", 1, 1, Instant.EPOCH, Message.to(topic).payload(""));
    }
}
