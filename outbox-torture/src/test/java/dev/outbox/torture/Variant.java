package dev.outbox.torture;

import dev.outbox.Inbox;
import dev.outbox.Ordering;
import dev.outbox.Outbox;
import dev.outbox.spi.TransactionalSource;
import javax.sql.DataSource;

/** What the children make of the library: nothing, if honest; a mutant breaks one thing. */
interface Variant {
    /** The library as it is. */
    final class Honest implements Variant {}

    static Variant named(String className) {
        try {
            var constructor = Class.forName(className).getDeclaredConstructor();
            constructor.setAccessible(true);
            return (Variant) constructor.newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("no variant " + className, e);
        }
    }

    /** What outbox and inbox of a worker use. */
    default DataSource dataSource(DataSource honest) {
        return honest;
    }

    default TransactionalSource source(TransactionalSource honest, DataSource dataSource) {
        return honest;
    }

    default Inbox inbox(Inbox honest) {
        return honest;
    }

    /** What producers use. */
    default Outbox outbox(Outbox honest, DataSource dataSource) {
        return honest;
    }

    default Ordering ordering() {
        return Ordering.STRICT;
    }
}
