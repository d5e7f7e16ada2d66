package dev.outbox.benchmarks;

import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Gruelbox transaction-outbox, storing only: its work after the commit is switched off. */
final class GruelboxWriter implements Writer {
    @Override
    public String name() {
        return Gruelbox.NAME;
    }

    @Override
    public String settings() {
        return Gruelbox.version() + ", submit switched off";
    }

    @Override
    public void install(Database database) {
        Gruelbox.install(database.direct());
    }

    @Override
    public Session open(DataSource pool) {
        TransactionManager transactions = TransactionManager.fromDataSource(pool);
        TransactionOutbox outbox =
                Gruelbox.outbox(transactions, Gruelbox.NOBODY, Gruelbox.NEVER).build();
        return (first, messages) -> transactions.inTransactionThrows(tx -> {
            Orders.insert(tx.connection(), first);
            for (int number = first; number < first + messages; number++) {
                outbox.schedule(Gruelbox.Handler.class).handle(Payload.of(number));
            }
        });
    }

    @Override
    public long stored(Database database) throws SQLException {
        return Gruelbox.unfinished(database);
    }
}
