package dev.outbox.examples;

import dev.outbox.CurrentTransaction;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The transaction that Spring has bound to this thread. Thread-safe. */
final class SpringTransaction implements CurrentTransaction {
    private static final TransactionDefinition UNDER_WAY =
            new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_MANDATORY);

    private final DataSource dataSource;
    private final PlatformTransactionManager transactions;

    /** @param dataSource the one that the transaction manager works on */
    SpringTransaction(DataSource dataSource, PlatformTransactionManager transactions) {
        // Transaction managers, too, work on the data source behind such a proxy.
        this.dataSource =
                dataSource instanceof TransactionAwareDataSourceProxy proxy ? proxy.getTargetDataSource() : dataSource;
        this.transactions = transactions;
    }

    @Override
    public Connection connection() {
        callbacks();
        // JTA binds no connection by itself.
        if (transactions instanceof ResourceTransactionManager
                && !TransactionSynchronizationManager.hasResource(dataSource)) {
            throw new IllegalStateException("enqueue needs a connection of the transaction, but the transaction has"
                    + " none of this data source; hand over the one that the transaction manager works on");
        }
        return DataSourceUtils.getConnection(dataSource);
    }

    @Override
    public void release(Connection connection) {
        DataSourceUtils.releaseConnection(connection, dataSource);
    }

    @Override
    public void afterCompletion(Consumer<Completion> action) {
        callbacks().actions.add(action);
    }

    /** One for each transaction, however many messages it has. */
    private Callbacks callbacks() {
        if (!TransactionSynchronizationManager.isSynchronizationActive()) {
            throw none(null);
        }
        for (TransactionSynchronization known : TransactionSynchronizationManager.getSynchronizations()) {
            if (known instanceof Callbacks callbacks && callbacks.transactions == transactions) {
                return callbacks;
            }
        }
        try {
            Callbacks callbacks = new Callbacks(transactions, transactions.getTransaction(UNDER_WAY));
            TransactionSynchronizationManager.registerSynchronization(callbacks);
            return callbacks;
        } catch (IllegalTransactionStateException e) {
            throw none(e);
        }
    }

    private static IllegalStateException none(IllegalTransactionStateException cause) {
        return new IllegalStateException(
                "enqueue needs a transaction, but the transaction manager has none under way on this thread;"
                        + " is @Transactional missing, or bypassed by a call within the same bean?",
                cause);
    }

    private static final class Callbacks implements TransactionSynchronization {
        private final PlatformTransactionManager transactions;
        private final TransactionStatus status;
        private final List<Consumer<Completion>> actions = new ArrayList<>();

        Callbacks(PlatformTransactionManager transactions, TransactionStatus status) {
            this.transactions = transactions;
            this.status = status;
        }

        /** Hibernate commits without a flush if its factory was closed meanwhile; a flush of ours fails then. */
        @Override
        public void beforeCommit(boolean readOnly) {
            if (!readOnly && !status.isRollbackOnly()) {
                status.flush();
            }
        }

        @Override
        public void afterCompletion(int how) {
            Completion completion = switch (how) {
                case STATUS_COMMITTED -> Completion.COMMITTED;
                case STATUS_ROLLED_BACK -> Completion.ROLLED_BACK;
                default -> Completion.UNKNOWN;
            };
            actions.forEach(action -> action.accept(completion));
        }
    }
}
