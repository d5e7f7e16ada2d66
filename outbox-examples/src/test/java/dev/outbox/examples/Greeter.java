package dev.outbox.examples;

import dev.outbox.Message;
import dev.outbox.Outbox;
import javax.sql.DataSource;

/** Code under test that enqueues and needs no SQL. */
final class Greeter {
    private final DataSource dataSource;
    private final Outbox outbox;

    Greeter(DataSource dataSource, Outbox outbox) {
        this.dataSource = dataSource;
        this.outbox = outbox;
    }

    void greet(String customer) {
        outbox.transaction(dataSource, tx -> {
            outbox.enqueue(tx, Message.to("mails.due").key(customer).payload("Hello " + customer));
            return outbox.enqueue(tx, Message.to("mails.due").key(customer).payload("Bye " + customer));
        });
    }
}
