package dev.outbox.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.BoundOutbox;
import dev.outbox.Message;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.support.TransactionTemplate;

/** The same {@link SpringTransaction} under Spring's transaction manager for JPA. */
class SpringJpaIT {
    private static final LocalContainerEntityManagerFactoryBean FACTORY = new LocalContainerEntityManagerFactoryBean();

    private final Shop shop = new Shop();
    private final BoundOutbox outbox = shop.outbox().in(new SpringTransaction(Shop.dataSource()));
    private final EntityManagerFactory entityManagers = FACTORY.getObject();
    private final EntityManager entityManager = SharedEntityManagerCreator.createSharedEntityManager(entityManagers);
    private final TransactionTemplate transaction = new TransactionTemplate(transactionManager());

    @BeforeAll
    static void open() {
        FACTORY.setDataSource(Shop.dataSource());
        FACTORY.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
        FACTORY.setManagedTypes(PersistenceManagedTypes.of(Order.class.getName()));
        FACTORY.afterPropertiesSet();
    }

    @AfterAll
    static void closeFactory() {
        FACTORY.destroy();
    }

    @AfterEach
    void close() {
        shop.close();
    }

    private JpaTransactionManager transactionManager() {
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
}
