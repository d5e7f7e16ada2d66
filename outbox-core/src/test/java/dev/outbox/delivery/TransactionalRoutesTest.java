package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.PermanentFailureException;
import dev.outbox.WorkItem;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HandlersTest {
    private final Connection tx = (Connection) Proxy.newProxyInstance(
            Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                throw new UnsupportedOperationException(method.getName());
            });
    private final List<String> handled = new ArrayList<>();
    private final TransactionalRoutes routes = TransactionalDestination.byTopic()
            .route("placed", (c, item) -> handled.add("placed " + item.id()))
            .route("cancelled", (c, item) -> handled.add("cancelled " + item.id()));

    private static WorkItem item(String topic) {
        return new WorkItem(
                "1",
                1,
                1,
                Instant.EPOCH,
                Instant.EPOCH,
                "shop",
                Message.to(topic).payload("secret"));
    }

    @Test
    void eachTopicGoesToItsHandler() throws Exception {
        routes.deliver(tx, item("cancelled"));
        routes.deliver(tx, item("placed"));

        assertThat(handled).containsExactly("cancelled 1", "placed 1");
    }

    @Test
    void aSecondRouteForATopicIsRefused() {
        assertThatThrownBy(() -> routes.route("placed", (c, item) -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("topic placed has a route already; each topic can have only one");
    }

    @Test
    void aTopicWithoutARouteIsAFailureThatNamesItUnlessItIsToBeIgnored() {
        String words =
                "no route for topic other; add route(...) or otherwise(...), or restrict the poller with topics(...)";
        assertThatThrownBy(() -> routes.deliver(tx, item("other")))
                .isExactlyInstanceOf(IllegalStateException.class)
                .hasMessage(words);
        assertThatThrownBy(() -> routes.otherwise(UnroutedTopic.DEAD).deliver(tx, item("other")))
                .isInstanceOf(PermanentFailureException.class)
                .hasMessage(words);
        assertThatCode(() -> routes.otherwise(UnroutedTopic.IGNORE).deliver(tx, item("other")))
                .doesNotThrowAnyException();
        assertThat(handled).isEmpty();
    }

    @Test
    void eachHandlerHasARouteOfItsOwnAndOtherTopicsShareOne() {
        Routing routing = routes.routing();

        assertThat(routing.destinations()).containsOnlyKeys("placed", "cancelled");
        assertThat(routing.destinations().get("placed"))
                .isNotSameAs(routing.destinations().get("cancelled"));
        assertThat(routing.otherwise()).isSameAs(routes);
    }
}
