package dev.outbox.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.table;

import dev.outbox.BoundOutbox;
import dev.outbox.Message;
import dev.outbox.Outbox;
import java.util.List;
import javax.sql.DataSource;
import org.jooq.Configuration;
import org.jooq.ConnectionProvider;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConfiguration;
import org.jooq.impl.DefaultTransactionProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class JooqIT {
    private final Shop shop = new Shop();
    private final Outbox outbox = shop.outbox();
    private final DSLContext dsl = dsl(Shop.dataSource());

    private static DSLContext dsl(DataSource dataSource) {
        ConnectionProvider connections = new DataSourceConnectionProvider(dataSource);
        return DSL.using(new DefaultConfiguration()
                .set(SQLDialect.POSTGRES)
                .set(connections)
                .set(new JooqTransaction.Provider(new DefaultTransactionProvider(connections))));
    }

    @AfterEach
    void close() {
        shop.close();
    }

    private void place(String order) {
        dsl.transaction(tx -> {
            insert(tx, order);
            outbox.in(new JooqTransaction(tx))
                    .enqueue(Message.to("orders.placed").payload(order));
        });
    }

    private static void insert(Configuration tx, String order) {
        tx.dsl()
                .insertInto(table("orders"), field("id", String.class))
                .values(order)
                .execute();
    }

    @Test
    void aCommitDelivers() {
        place("book");

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void severalMessagesOfOneTransactionAreDelivered() {
        dsl.transaction(tx -> {
            BoundOutbox current = outbox.in(new JooqTransaction(tx));
            for (String order : List.of("book", "lamp", "vase")) {
                insert(tx, order);
                current.enqueue(Message.to("orders.placed").payload(order));
            }
        });

        assertThat(shop.delivered(3)).containsExactlyInAnyOrder("book", "lamp", "vase");
    }

    @Test
    void anExceptionDropsTheMessage() {
        assertThatThrownBy(() -> dsl.transaction(tx -> {
                    insert(tx, "dropped");
                    outbox.in(new JooqTransaction(tx))
                            .enqueue(Message.to("orders.placed").payload("dropped"));
                    throw new IllegalStateException("out of stock");
                }))
                .hasMessage("out of stock");
        place("book");

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void aNestedTransactionThatFailsDropsItsOwnMessageOnly() {
        dsl.transaction(outer -> {
            insert(outer, "book");
            outbox.in(new JooqTransaction(outer))
                    .enqueue(Message.to("orders.placed").payload("book"));
            assertThatThrownBy(() -> outer.dsl().transaction(nested -> {
                        insert(nested, "dropped");
                        outbox.in(new JooqTransaction(nested))
                                .enqueue(Message.to("orders.placed").payload("dropped"));
                        throw new IllegalStateException("out of stock");
                    }))
                    .hasMessage("out of stock");
        });

        assertThat(shop.delivered(1)).containsExactly("book");
        shop.assertCommitted("book");
    }

    @Test
    void aMessageOfANestedTransactionIsDeliveredWhenTheOuterOneCommits() {
        dsl.transaction(outer -> {
            outer.dsl().transaction(nested -> {
                insert(nested, "book");
                outbox.in(new JooqTransaction(nested))
                        .enqueue(Message.to("orders.placed").payload("book"));
            });
            insert(outer, "lamp");
        });

        assertThat(shop.delivered(1)).containsExactly("book");
        assertThat(shop.orders()).containsExactly("book", "lamp");
    }

    @Test
    void outsideATransactionNothingIsStoredAndTheErrorSaysWhy() {
        BoundOutbox current = outbox.in(new JooqTransaction(dsl.configuration()));

        assertThatThrownBy(() -> current.enqueue(Message.to("orders.placed").payload("dropped")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("transaction(...)");

        shop.assertCommitted();
    }

    @Test
    void onAWakingDataSourceTheConnectionIsEnough() {
        DSLContext waking = DSL.using(outbox.waking(Shop.dataSource()), SQLDialect.POSTGRES);

        waking.transaction(tx -> {
            insert(tx, "book");
            tx.dsl()
                    .connection(connection -> outbox.enqueue(
                            connection, Message.to("orders.placed").payload("book")));
        });

        assertThat(shop.delivered(1)).containsExactly("book");
    }
}
