package dev.outbox.examples;

import dev.outbox.BoundOutbox;
import dev.outbox.Message;
import java.io.IOException;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** A bean as Spring applications have them: no connection in sight. */
class SpringOrders {
    private final JdbcTemplate jdbc;
    private final BoundOutbox outbox;

    SpringOrders(JdbcTemplate jdbc, BoundOutbox outbox) {
        this.jdbc = jdbc;
        this.outbox = outbox;
    }

    @Transactional
    public void place(String order) {
        jdbc.update("INSERT INTO orders (id) VALUES (?)", order);
        outbox.enqueue(Message.to("orders.placed").payload(order));
    }

    @Transactional
    public void placeAll(List<String> orders) {
        orders.forEach(this::place);
    }

    @Transactional
    public void placeAndFail(String order) {
        place(order);
        throw new IllegalStateException("out of stock");
    }

    @Transactional
    public void placeAndPrint(String order) throws IOException {
        place(order);
        throw new IOException("printer on fire"); // checked: Spring commits, the order and the message
    }

    @Transactional(rollbackFor = Exception.class)
    public void placeAndPrintOrNothing(String order) throws IOException {
        place(order);
        throw new IOException("printer on fire"); // rolled back, the order and the message
    }

    public void placeWithoutTransaction(String order) {
        outbox.enqueue(Message.to("orders.placed").payload(order));
    }
}
