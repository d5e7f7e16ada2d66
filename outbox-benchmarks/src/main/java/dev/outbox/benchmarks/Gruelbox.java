package dev.outbox.benchmarks;

import com.gruelbox.transactionoutbox.Dialect;
import com.gruelbox.transactionoutbox.Instantiator;
import com.gruelbox.transactionoutbox.Persistor;
import com.gruelbox.transactionoutbox.Submitter;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import java.sql.SQLException;
import javax.sql.DataSource;

/** What the contenders on Gruelbox transaction-outbox share. */
final class Gruelbox {
    static final String NAME = "gruelbox";

    /** Stores only; nothing is tried after the commit. */
    static final Submitter NEVER = (entry, run) -> {};

    /** Where nothing is delivered. */
    static final Handler NOBODY = payload -> {
        throw new IllegalStateException("nothing is to be delivered here");
    };

    private Gruelbox() {}

    /** Called by name, from what was stored. */
    interface Handler {
        void handle(String payload);
    }

    static String version() {
        return "transactionoutbox-core " + Versions.of("com.gruelbox", "transactionoutbox-core")
                + " (the newest that is published here; upstream is newer)";
    }

    /** Makes its tables; nodes do that too when they start, but not two at a time. */
    static void install(DataSource dataSource) {
        outbox(TransactionManager.fromDataSource(dataSource), NOBODY, NEVER).build();
    }

    static long unfinished(Database database) throws SQLException {
        return database.count("SELECT count(*) FROM txno_outbox");
    }

    static TransactionOutbox.TransactionOutboxBuilder outbox(
            TransactionManager transactions, Handler handler, Submitter submitter) {
        return TransactionOutbox.builder()
                .transactionManager(transactions)
                .persistor(Persistor.forDialect(Dialect.POSTGRESQL_9))
                .instantiator(Instantiator.using(type -> handler))
                .submitter(submitter);
    }
}
