package dev.outbox.examples;

import dev.outbox.CurrentTransaction;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import java.sql.Connection;
import org.hibernate.Session;

/** The transaction of a Hibernate session. Belongs to one thread, as the session does. */
final class HibernateTransaction implements CurrentTransaction {
    private final Session session;

    HibernateTransaction(Session session) {
        this.session = session;
    }

    @Override
    public Connection connection() {
        if (!session.getTransaction().isActive()) {
            throw new IllegalStateException(
                    "enqueue needs a transaction, but the session has none; call beginTransaction() first");
        }
        return session.doReturningWork(connection -> connection);
    }

    @Override
    public void afterCommit(Runnable action) {
        session.getTransaction().registerSynchronization(new Synchronization() {
            @Override
            public void beforeCompletion() {}

            @Override
            public void afterCompletion(int status) {
                if (status == Status.STATUS_COMMITTED) {
                    action.run();
                }
            }
        });
    }
}
