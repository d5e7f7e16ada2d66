package dev.outbox.examples;

import dev.outbox.CurrentTransaction;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import java.sql.Connection;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import org.hibernate.FlushMode;
import org.hibernate.Session;

/** The transaction of a Hibernate session. Belongs to one thread, as the session does. */
final class HibernateTransaction implements CurrentTransaction {
    /** The sessions whose transaction will flush, so that each flushes once, however many messages it has. */
    private static final Set<Session> FLUSHING =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

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
        if (FLUSHING.add(session)) {
            session.getTransaction().registerSynchronization(new FlushBeforeCommit(session));
        }
        return session.doReturningWork(connection -> connection);
    }

    @Override
    public void afterCompletion(Consumer<Completion> action) {
        session.getTransaction().registerSynchronization(new Synchronization() {
            @Override
            public void beforeCompletion() {}

            @Override
            public void afterCompletion(int status) {
                action.accept(
                        switch (status) {
                            case Status.STATUS_COMMITTED -> Completion.COMMITTED;
                            case Status.STATUS_ROLLEDBACK -> Completion.ROLLED_BACK;
                            default -> Completion.UNKNOWN;
                        });
            }
        });
    }

    /** Hibernate commits without a flush if its factory was closed meanwhile; a flush of ours fails then. */
    private record FlushBeforeCommit(Session session) implements Synchronization {
        @Override
        public void beforeCompletion() {
            if (session.getHibernateFlushMode() != FlushMode.MANUAL) {
                session.flush();
            }
        }

        @Override
        public void afterCompletion(int status) {
            FLUSHING.remove(session);
        }
    }
}
