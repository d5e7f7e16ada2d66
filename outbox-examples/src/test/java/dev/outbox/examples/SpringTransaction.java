package dev.outbox.examples;

import dev.outbox.CurrentTransaction;
import java.sql.Connection;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The transaction that Spring has bound to this thread. Thread-safe. */
final class SpringTransaction implements CurrentTransaction {
    private final DataSource dataSource;

    /** @param dataSource the one that the transaction manager works on */
    SpringTransaction(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    @Override
    public Connection connection() {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new IllegalStateException("enqueue needs a transaction, but none is under way on this thread;"
                    + " is @Transactional missing, or bypassed by a call within the same bean?");
        }
        return DataSourceUtils.getConnection(dataSource);
    }

    @Override
    public void afterCommit(Runnable action) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCommit() {
                action.run();
            }
        });
    }
}
