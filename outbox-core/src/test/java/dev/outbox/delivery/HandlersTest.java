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
    private final Handlers handlers = Handlers.on("placed", (c, item) -> handled.add("placed " + item.id()))
            .and("cancelled", (c, item) -> handled.add("cancelled " + item.id()));

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
        handlers.deliver(tx, item("cancelled"));
        handlers.deliver(tx, item("placed"));

        assertThat(handled).containsExactly("cancelled 1", "placed 1");
    }

    @Test
    void aSecondHandlerForATopicIsRefused() {
        assertThatThrownBy(() -> handlers.and("placed", (c, item) -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("topic placed has a handler already; each topic takes one");
    }

    @Test
    void anUnknownTopicIsAFailureThatNamesItUnlessItIsToBeIgnored() {
        String words = "no handler for topic other; add on(...) or and(...), or restrict the poller with topics(...)";
        assertThatThrownBy(() -> handlers.deliver(tx, item("other")))
                .isExactlyInstanceOf(IllegalStateException.class)
                .hasMessage(words);
        assertThatThrownBy(() -> handlers.unknown(UnknownTopic.DEAD).deliver(tx, item("other")))
                .isInstanceOf(PermanentFailureException.class)
                .hasMessage(words);
        assertThatCode(() -> handlers.unknown(UnknownTopic.IGNORE).deliver(tx, item("other")))
                .doesNotThrowAnyException();
        assertThat(handled).isEmpty();
    }

    @Test
    void eachHandlerHasARouteOfItsOwnAndUnknownTopicsShareOne() {
        ByTopic routes = handlers.routes();

        assertThat(routes.routes()).containsOnlyKeys("placed", "cancelled");
        assertThat(routes.routes().get("placed")).isNotSameAs(routes.routes().get("cancelled"));
        assertThat(routes.otherwise()).isSameAs(handlers);
    }
}
