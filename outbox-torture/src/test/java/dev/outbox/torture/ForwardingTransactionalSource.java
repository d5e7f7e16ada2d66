package dev.outbox.torture;

import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.TransactionalSource;
import dev.outbox.testkit.ForwardingSource;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Does what the honest source does, settles in a transaction included; a mutant overrides what it breaks. */
abstract class ForwardingTransactionalSource extends ForwardingSource implements TransactionalSource {
    private final TransactionalSource honest;

    ForwardingTransactionalSource(TransactionalSource honest) {
        super(honest);
        this.honest = honest;
    }

    @Override
    public Set<Lease> settle(Connection tx, List<Settlement> settlements) {
        return honest.settle(tx, settlements);
    }

    @Override
    public Transaction begin() {
        return honest.begin();
    }

    @Override
    public Optional<String> replacedIsolation() {
        return honest.replacedIsolation();
    }
}
