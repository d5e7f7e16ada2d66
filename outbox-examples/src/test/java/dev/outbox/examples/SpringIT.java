package dev.outbox.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.BoundOutbox;
import dev.outbox.Message;
import dev.outbox.Outbox;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

class SpringIT {
    private final Shop shop = new Shop();
    private final AnnotationConfigApplicationContext context = start(Shop.dataSource());
    private final SpringOrders orders = context.getBean(SpringOrders.class);

    private AnnotationConfigApplicationContext start(DataSource dataSource) {
        AnnotationConfigApplicationContext spring = new AnnotationConfigApplicationContext();
        spring.registerBean(DataSource.class, () -> dataSource, bean -> bean.setDestroyMethodName(""));
        spring.registerBean(Outbox.class, shop::outbox);
        spring.register(SpringConfiguration.class);
        spring.refresh();
        return spring;
    }

    @AfterEach
    void close() {
        context.close();
        shop.close();
    }

    @Test
    void aCommitDelivers() {
        orders.place("book");

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void severalMessagesOfOneTransactionAreDelivered() {
        orders.placeAll(List.of("book", "lamp", "vase"));

        assertThat(shop.delivered(3)).containsExactlyInAnyOrder("book", "lamp", "vase");
    }

    @Test
    void anUncheckedExceptionDropsTheMessage() {
        assertThatThrownBy(() -> orders.placeAndFail("dropped")).hasMessage("out of stock");
        orders.place("book");

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void aCheckedExceptionCommitsTheOrderAndItsMessageAlike() {
        assertThatThrownBy(() -> orders.placeAndPrint("book")).isInstanceOf(IOException.class);

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void aCheckedExceptionDropsBothWhereTheMethodSaysSo() {
        assertThatThrownBy(() -> orders.placeAndPrintOrNothing("dropped")).isInstanceOf(IOException.class);
        orders.place("book");

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void withoutATransactionNothingIsStoredAndTheErrorSaysWhy() {
        assertThatThrownBy(() -> orders.placeWithoutTransaction("dropped"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no")
                .hasMessageContaining("@Transactional");

        shop.assertCommitted();
    }

    @Test
    void aTransactionOfItsOwnDeliversAlthoughTheOuterOneRollsBack() {
        transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(outer -> {
            orders.place("dropped");
            transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
                    .executeWithoutResult(inner -> orders.place("inner"));
            assertThat(shop.delivered(1)).as("before the outer one ends").containsExactly("inner");
            outer.setRollbackOnly();
        });

        shop.assertCommitted("inner");
    }

    @Test
    void anOuterTransactionDeliversAlthoughTheInnerOneOfItsOwnRollsBack() {
        transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(outer -> {
            orders.place("outer");
            transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW).executeWithoutResult(inner -> {
                orders.place("dropped");
                inner.setRollbackOnly();
            });
        });

        assertThat(shop.delivered(1)).containsExactly("outer");
        shop.assertCommitted("outer");
    }

    @Test
    void aRollbackToASavepointDropsOnlyWhatCameAfterIt() {
        transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(outer -> {
            orders.place("before");
            transaction(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult(nested -> {
                orders.place("dropped");
                nested.setRollbackOnly();
            });
            orders.place("after");
        });

        assertThat(shop.delivered(2)).containsExactlyInAnyOrder("after", "before");
        shop.assertCommitted("after", "before");
    }

    /** Its connection would be closed without a commit, and the message lost. */
    @Test
    void aDataSourceThatIsNotTheTransactionsIsRefused() {
        BoundOutbox other = shop.outbox()
                .in(new SpringTransaction(withoutAutoCommit(), context.getBean(PlatformTransactionManager.class)));

        assertThatThrownBy(() -> transaction(TransactionDefinition.PROPAGATION_REQUIRED)
                        .executeWithoutResult(status ->
                                other.enqueue(Message.to("orders.placed").payload("dropped"))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("data source");
    }

    @Test
    void aTransactionOfAnotherManagerIsRefused() {
        TransactionTemplate other = new TransactionTemplate(new JdbcTransactionManager(withoutAutoCommit()));

        assertThatThrownBy(() -> other.executeWithoutResult(status -> orders.placeWithoutTransaction("dropped")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("transaction manager");
    }

    @Test
    void aProxyOfTheTransactionsDataSourceIsNotRefused() {
        Map<String, DataSource> proxies = Map.of(
                "aware", new TransactionAwareDataSourceProxy(Shop.dataSource()),
                "lazy", new LazyConnectionDataSourceProxy(Shop.dataSource()),
                "waking", shop.outbox().waking(Shop.dataSource()));

        proxies.forEach((order, proxy) -> placeMessageFirst(order, proxy, new JdbcTransactionManager(proxy)));

        assertThat(shop.delivered(3)).containsExactlyInAnyOrder("aware", "lazy", "waking");
        shop.assertCommitted("aware", "lazy", "waking");
    }

    @Test
    void underJtaAMessageMayBeTheFirstToUseTheConnection() throws SQLException {
        try (Connection connection = Shop.dataSource().getConnection()) {
            placeMessageFirst(
                    "book",
                    new SingleConnectionDataSource(connection, true),
                    new JtaTransactionManager(new OneConnectionTransaction(connection)));
        }

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    /** Commits an order and rolls another one back. A {@code JdbcTemplate} that came first would bind the connection. */
    private void placeMessageFirst(String order, DataSource dataSource, PlatformTransactionManager transactions) {
        BoundOutbox bound = shop.outbox().in(new SpringTransaction(dataSource, transactions));
        JdbcTemplate jdbc = new JdbcTemplate(dataSource);
        for (String each : List.of(order, "dropped")) {
            new TransactionTemplate(transactions).executeWithoutResult(status -> {
                bound.enqueue(Message.to("orders.placed").payload(each));
                jdbc.update("INSERT INTO orders (id) VALUES (?)", each);
                if (each.equals("dropped")) {
                    status.setRollbackOnly();
                }
            });
        }
    }

    private static DataSource withoutAutoCommit() {
        return new DelegatingDataSource(Shop.dataSource()) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                connection.setAutoCommit(false);
                return connection;
            }
        };
    }

    private TransactionTemplate transaction(int propagation) {
        TransactionTemplate template = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        template.setPropagationBehavior(propagation);
        return template;
    }
}
