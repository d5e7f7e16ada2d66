package dev.outbox.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.BoundOutbox;
import dev.outbox.Message;
import dev.outbox.Outbox;
import jakarta.persistence.EntityManager;
import java.util.List;
import javax.sql.DataSource;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.Transaction;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.cfg.StatisticsSettings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HibernateIT {
    private final SessionFactory sessions = sessions(Shop.dataSource());
    private final Shop shop = new Shop();
    private final Outbox outbox = shop.outbox();

    private static SessionFactory sessions(DataSource dataSource) {
        Configuration configuration = new Configuration().addAnnotatedClass(Order.class);
        configuration.getProperties().put(JdbcSettings.JAKARTA_NON_JTA_DATASOURCE, dataSource);
        configuration.setProperty(StatisticsSettings.GENERATE_STATISTICS, true);
        return configuration.buildSessionFactory();
    }

    @AfterEach
    void close() {
        sessions.close();
        shop.close();
    }

    private void place(String order) {
        sessions.inTransaction(session -> {
            session.persist(new Order(order));
            outbox.in(new HibernateTransaction(session))
                    .enqueue(Message.to("orders.placed").payload(order));
        });
    }

    private void place(Session session, String order) {
        session.persist(new Order(order));
        outbox.in(new HibernateTransaction(session))
                .enqueue(Message.to("orders.placed").payload(order));
    }

    @Test
    void aCommitDelivers() {
        place("book");

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void anEntityManagerIsASession() {
        try (EntityManager entityManager = sessions.createEntityManager()) {
            entityManager.getTransaction().begin();
            entityManager.persist(new Order("book"));
            outbox.in(new HibernateTransaction(entityManager.unwrap(Session.class)))
                    .enqueue(Message.to("orders.placed").payload("book"));
            entityManager.getTransaction().commit();
        }

        assertThat(shop.delivered(1)).containsExactly("book");
    }

    @Test
    void severalMessagesOfOneTransactionAreDelivered() {
        sessions.inTransaction(session -> {
            BoundOutbox current = outbox.in(new HibernateTransaction(session));
            for (String order : List.of("book", "lamp", "vase")) {
                session.persist(new Order(order));
                current.enqueue(Message.to("orders.placed").payload(order));
            }
        });

        assertThat(shop.delivered(3)).containsExactlyInAnyOrder("book", "lamp", "vase");
    }

    @Test
    void aRollbackDropsTheMessage() {
        try (Session session = sessions.openSession()) {
            Transaction transaction = session.beginTransaction();
            session.persist(new Order("dropped"));
            outbox.in(new HibernateTransaction(session))
                    .enqueue(Message.to("orders.placed").payload("dropped"));
            session.flush();
            transaction.rollback();
        }
        place("book");

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void aFlushThatFailsAtCommitDropsTheMessage() {
        place("book");
        assertThat(shop.delivered(1)).containsExactly("book");

        assertThatThrownBy(() -> place("book")).as("the same order again").isInstanceOf(RuntimeException.class);

        shop.assertCommitted("book");
    }

    @Test
    void withoutATransactionNothingIsStoredAndTheErrorSaysWhy() {
        try (Session session = sessions.openSession()) {
            BoundOutbox current = outbox.in(new HibernateTransaction(session));

            assertThatThrownBy(() -> current.enqueue(Message.to("orders.placed").payload("dropped")))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("beginTransaction()");
        }

        shop.assertCommitted();
    }

    @Test
    void onAWakingDataSourceDoWorkAndAFlushAreEnough() {
        try (SessionFactory waking = sessions(outbox.waking(Shop.dataSource()))) {
            waking.inTransaction(session -> {
                session.persist(new Order("book"));
                session.doWork(
                        tx -> outbox.enqueue(tx, Message.to("orders.placed").payload("book")));
                session.flush();
            });

            assertThat(shop.delivered(1)).containsExactly("book");
        }
    }

    /** An application that is stopped under load closes its factory while transactions are under way. */
    @Test
    void aFactoryClosedInTheMiddleDropsTheMessageWithItsOrder() {
        assertThatThrownBy(() -> sessions.inTransaction(session -> {
                    place(session, "dropped");
                    sessions.close();
                }))
                .isInstanceOf(RuntimeException.class);

        shop.assertCommitted();
    }

    @Test
    void aFactoryClosedInTheMiddleDropsAnOrderPersistedAfterItsMessageToo() {
        assertThatThrownBy(() -> sessions.inTransaction(session -> {
                    outbox.in(new HibernateTransaction(session))
                            .enqueue(Message.to("orders.placed").payload("dropped"));
                    session.persist(new Order("dropped"));
                    sessions.close();
                }))
                .isInstanceOf(RuntimeException.class);

        shop.assertCommitted();
    }

    @Test
    void aFactoryClosedInTheSecondTransactionOfASessionDropsOnlyThatOne() {
        try (Session session = sessions.openSession()) {
            session.beginTransaction();
            place(session, "book");
            session.getTransaction().commit();
            Transaction second = session.beginTransaction();
            place(session, "dropped");
            sessions.close();

            assertThatThrownBy(second::commit).isInstanceOf(RuntimeException.class);
        }

        shop.assertCommitted("book");
    }

    @Test
    void aThousandMessagesAreOneFlush() {
        sessions.inTransaction(session -> {
            for (int number = 0; number < 1000; number++) {
                place(session, "order-" + number);
            }
        });

        assertThat(sessions.getStatistics().getFlushCount())
                .as("one by Hibernate, one by HibernateTransaction")
                .isEqualTo(2);
    }

    @Test
    void aSessionThatIsFlushedByHandStaysSo() {
        sessions.inTransaction(session -> {
            session.setHibernateFlushMode(FlushMode.MANUAL);
            session.persist(new Order("unfinished"));
            outbox.in(new HibernateTransaction(session))
                    .enqueue(Message.to("orders.begun").payload("unfinished"));
        });

        assertThat(shop.orders()).isEmpty();
        assertThat(shop.messages()).containsExactly("unfinished");
    }

    @Test
    void onAWakingDataSourceAFlushAtTheEndKeepsTheMessageWithItsOrder() {
        SessionFactory waking = sessions(outbox.waking(Shop.dataSource()));

        assertThatThrownBy(() -> waking.inTransaction(session -> {
                    session.persist(new Order("dropped"));
                    session.doWork(
                            tx -> outbox.enqueue(tx, Message.to("orders.placed").payload("dropped")));
                    waking.close();
                    session.flush();
                }))
                .isInstanceOf(RuntimeException.class);

        shop.assertCommitted();
    }
}
