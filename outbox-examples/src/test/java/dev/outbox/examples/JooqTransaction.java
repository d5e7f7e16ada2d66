package dev.outbox.examples;

import dev.outbox.CurrentTransaction;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jooq.Configuration;
import org.jooq.TransactionContext;
import org.jooq.TransactionProvider;

/** The transaction of the configuration that jOOQ hands to its lambda. Belongs to one thread. */
final class JooqTransaction implements CurrentTransaction {
    private final Configuration tx;

    JooqTransaction(Configuration tx) {
        this.tx = tx;
    }

    @Override
    public Connection connection() {
        actions();
        return tx.dsl().connectionResult(connection -> connection);
    }

    @Override
    public void afterCompletion(Consumer<Completion> action) {
        actions().list.add(action);
    }

    private Actions actions() {
        if (tx.data(Actions.class) instanceof Actions actions) {
            return actions;
        }
        throw new IllegalStateException("enqueue needs a transaction, but this configuration is in none; use the one"
                + " that transaction(...) hands to its lambda, and set JooqTransaction.Provider on the outer one");
    }

    /** What the outermost transaction is to run at its end; nested ones see the same. */
    private record Actions(Configuration outermost, List<Consumer<Completion>> list) {}

    /**
     * Runs the actions. Not a TransactionListener, because its commitEnd comes after a commit that failed
     * too, and after the end of every nested transaction.
     */
    static final class Provider implements TransactionProvider {
        private final TransactionProvider provider;

        Provider(TransactionProvider provider) {
            this.provider = provider;
        }

        @Override
        public void begin(TransactionContext context) {
            provider.begin(context);
            Configuration tx = context.configuration();
            tx.data().computeIfAbsent(Actions.class, key -> new Actions(tx, new ArrayList<>()));
        }

        @Override
        public void commit(TransactionContext context) {
            try {
                provider.commit(context);
            } catch (RuntimeException e) {
                completed(context, Completion.UNKNOWN);
                throw e;
            }
            completed(context, Completion.COMMITTED);
        }

        @Override
        public void rollback(TransactionContext context) {
            try {
                provider.rollback(context);
            } finally {
                completed(context, Completion.ROLLED_BACK);
            }
        }

        /** Once: jOOQ rolls back after a commit that failed. */
        private static void completed(TransactionContext context, Completion completion) {
            if (context.configuration().data(Actions.class) instanceof Actions actions
                    && actions.outermost == context.configuration()) {
                List<Consumer<Completion>> list = List.copyOf(actions.list);
                actions.list.clear();
                list.forEach(action -> action.accept(completion));
            }
        }
    }
}
