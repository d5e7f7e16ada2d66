package dev.outbox.benchmarks;

import com.gruelbox.transactionoutbox.Dialect;
import com.gruelbox.transactionoutbox.Instantiator;
import com.gruelbox.transactionoutbox.Persistor;
import com.gruelbox.transactionoutbox.Submitter;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Shared by the contenders that use Gruelbox transaction-outbox. */
final class Gruelbox {
    static final String NAME = "gruelbox";

    /** Only stores; it attempts nothing after the commit. */
    static final Submitter NEVER = (entry, run) -> {};

    /** For scenarios that deliver nothing. */
    static final Handler NOBODY = payload -> {
        throw new IllegalStateException("nothing is to be delivered here");
    };

    private Gruelbox() {}

    /** Gruelbox calls this by the name that it stored. */
    interface Handler {
        void handle(String payload);
    }

    static String version() {
        return "transactionoutbox-core " + Versions.of("com.gruelbox", "transactionoutbox-core")
                + " (the newest that is published here; upstream is newer)";
    }

    /** Creates its tables. Nodes do that too when they start, but two cannot do it at the same time. */
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
