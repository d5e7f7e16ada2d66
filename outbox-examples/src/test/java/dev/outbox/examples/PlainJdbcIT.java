package dev.outbox.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.Outbox;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PlainJdbcIT {
    private final Shop shop = new Shop();
    private final Outbox outbox = shop.outbox();
    private final PlainJdbcOrders orders = new PlainJdbcOrders(Shop.dataSource(), outbox);

    @AfterEach
    void close() {
        shop.close();
    }

    @Test
    void aCommitByHandDeliversWhenTheCallerWakes() throws SQLException {
        orders.placeByHand("book");

        assertThat(shop.delivered(1)).containsExactly("book");
    }

    @Test
    void aCommitThatHappenedWithoutAnAnswerIsRepeatedWithoutASecondOrder() throws SQLException {
        AtomicInteger commits = new AtomicInteger();
        DataSource losingTheFirstAnswer = proxy(
                DataSource.class,
                Shop.dataSource(),
                (connection, method) -> connection instanceof Connection real
                        ? proxy(Connection.class, real, (answer, called) -> {
                            if (called.equals("commit") && commits.incrementAndGet() == 1) {
                                throw new SQLException("connection reset", "08006");
                            }
                            return answer;
                        })
                        : connection);

        new PlainJdbcOrders(losingTheFirstAnswer, outbox).placeOnce("book");
        outbox.wakeUp(); // the commit that had no answer woke nobody

        assertThat(commits).hasValue(2);
        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    /** Looks at each answer after the call was made. */
    private interface Look {
        Object at(Object answer, String method) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, T target, Look look) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            try {
                return look.at(method.invoke(target, args), method.getName());
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    @Test
    void aRollbackByHandDropsTheMessage() throws SQLException {
        try (Connection tx = Shop.dataSource().getConnection()) {
            tx.setAutoCommit(false);
            PlainJdbcOrders.insert(tx, "dropped");
            outbox.enqueue(tx, Message.to("orders.placed").payload("dropped"));
            tx.rollback();
        }
        orders.placeByHand("book");

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void theHelperDeliversWhatItCommits() throws SQLException {
        orders.placeWithHelper("book");

        assertThat(shop.delivered(1)).containsExactly("book");
    }

    @Test
    void theHelperDropsTheMessageOfWorkThatThrows() throws SQLException {
        assertThatThrownBy(() -> outbox.transaction(Shop.dataSource(), tx -> {
                    PlainJdbcOrders.insert(tx, "dropped");
                    outbox.enqueue(tx, Message.to("orders.placed").payload("dropped"));
                    throw new IOException("the card reader is offline");
                }))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("the card reader is offline");
        orders.placeWithHelper("book");

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void aCommitOnTheWakingDataSourceDelivers() throws SQLException {
        orders.placeOnWakingDataSource("book");

        assertThat(shop.delivered(1)).containsExactly("book");
    }

    @Test
    void aRollbackOnTheWakingDataSourceDropsTheMessage() throws SQLException {
        DataSource waking = outbox.waking(Shop.dataSource());
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            PlainJdbcOrders.insert(tx, "dropped");
            outbox.enqueue(tx, Message.to("orders.placed").payload("dropped"));
            tx.rollback();
        }
        orders.placeOnWakingDataSource("book");

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void severalMessagesOfOneTransactionAreDeliveredTogether() throws SQLException {
        outbox.transaction(Shop.dataSource(), tx -> {
            for (String order : List.of("book", "lamp", "vase")) {
                PlainJdbcOrders.insert(tx, order);
            }
            outbox.enqueue(tx, Message.to("orders.placed").payload("book"));
            return outbox.enqueueAll(
                    tx,
                    List.of(
                            Message.to("orders.placed").payload("lamp"),
                            Message.to("orders.placed").payload("vase")));
        });

        assertThat(shop.delivered(3)).containsExactlyInAnyOrder("book", "lamp", "vase");
    }
}
