package dev.outbox.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.BoundInbox;
import dev.outbox.BoundOutbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.postgres.PostgresInbox;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The same {@link SpringTransaction} under Spring's transaction manager for JPA. */
class SpringJpaIT {
    private final LocalContainerEntityManagerFactoryBean factory = open();
    private final Shop shop = new Shop();
    private final EntityManagerFactory entityManagers = factory.getObject();
    private final EntityManager entityManager = SharedEntityManagerCreator.createSharedEntityManager(entityManagers);
    private final JpaTransactionManager transactions = transactions();
    private final TransactionTemplate transaction = new TransactionTemplate(transactions);
    private final SpringTransaction current = new SpringTransaction(Shop.dataSource(), transactions);
    private final BoundOutbox outbox = shop.outbox().in(current);

    private static LocalContainerEntityManagerFactoryBean open() {
        LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
        factory.setDataSource(Shop.dataSource());
        factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
        factory.setManagedTypes(PersistenceManagedTypes.of(Order.class.getName()));
        factory.afterPropertiesSet();
        return factory;
    }

    @AfterEach
    void close() {
        factory.destroy();
        shop.close();
    }

    private JpaTransactionManager transactions() {
        JpaTransactionManager manager = new JpaTransactionManager(entityManagers);
        manager.afterPropertiesSet();
        return manager;
    }

    private void place(String order) {
        entityManager.persist(new Order(order));
        outbox.enqueue(Message.to("orders.placed").payload(order));
    }

    @Test
    void aCommitDelivers() {
        transaction.executeWithoutResult(status -> List.of("book", "lamp").forEach(this::place));

        assertThat(shop.delivered(2)).containsExactlyInAnyOrder("book", "lamp");
        shop.assertCommitted("book", "lamp");
    }

    @Test
    void aRollbackDropsTheMessage() {
        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    place("dropped");
                    entityManager.flush();
                    throw new IllegalStateException("out of stock");
                }))
                .hasMessage("out of stock");
        transaction.executeWithoutResult(status -> place("book"));

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void withoutATransactionNothingIsStored() {
        assertThatThrownBy(() -> outbox.enqueue(Message.to("orders.placed").payload("dropped")))
                .isInstanceOf(IllegalStateException.class);

        shop.assertCommitted();
    }

    /** An application that is stopped under load closes its factory while transactions are under way. */
    @Test
    void aFactoryClosedInTheMiddleDropsTheMessageWithItsOrder() {
        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    place("dropped");
                    entityManagers.close();
                }))
                .isInstanceOf(RuntimeException.class);

        shop.assertCommitted();
    }

    @Test
    void aFactoryClosedInTheMiddleDropsAnOrderPersistedAfterItsMessageToo() {
        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    outbox.enqueue(Message.to("orders.placed").payload("dropped"));
                    entityManager.persist(new Order("dropped"));
                    entityManagers.close();
                }))
                .isInstanceOf(RuntimeException.class);

        shop.assertCommitted();
    }

    @Test
    void aFactoryClosedInTheMiddleLeavesTheInnerTransactionOfItsOwn() {
        TransactionTemplate own = new TransactionTemplate(transactions);
        own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);

        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    place("dropped");
                    own.executeWithoutResult(inner -> place("inner"));
                    entityManagers.close();
                }))
                .isInstanceOf(RuntimeException.class);

        assertThat(shop.delivered(1)).containsExactly("inner");
        shop.assertCommitted("inner");
    }

    @Test
    void aFactoryClosedInTheMiddleLeavesAnIncomingMessageToBeReceivedAgain() {
        BoundInbox inbox = PostgresInbox.builder(Shop.dataSource())
                .consumer("billing")
                .build()
                .in(current);
        Incoming placed = Incoming.from("shop", "m-1").payload("book");

        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    inbox.receive(placed, tx -> entityManager.persist(new Order("book")));
                    entityManagers.close();
                }))
                .isInstanceOf(RuntimeException.class);

        assertThat(shop.orders()).isEmpty();
        assertThat(shop.received()).isEmpty();
    }

    @Test
    void aThousandMessagesShareOneSynchronization() {
        transaction.executeWithoutResult(status -> {
            IntStream.range(0, 1000).forEach(number -> place("order-" + number));
            assertThat(TransactionSynchronizationManager.getSynchronizations()).hasSize(1);
        });

        assertThat(shop.delivered(1000)).doesNotHaveDuplicates();
    }

    @Test
    void aTransactionMarkedForRollbackIsNotFlushed() {
        transaction.executeWithoutResult(status -> place("book"));

        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    place("book"); // a flush would fail: there is such an order
                    transaction.executeWithoutResult(TransactionExecution::setRollbackOnly);
                }))
                .isInstanceOf(UnexpectedRollbackException.class);

        shop.assertCommitted("book");
    }
}
