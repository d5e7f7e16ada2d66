package dev.outbox.quickstart;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** Customers that order from several threads at once; one customer may order on two threads at the same time. */
final class Customers implements AutoCloseable {
    private static final int CUSTOMERS = 200;
    private static final int THREADS = 4;
    private static final double CANCELLED = 0.05;

    private final Shop shop;
    private final int orders;
    private final AtomicInteger nextOrder = new AtomicInteger();
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final List<Future<?>> shopping = new ArrayList<>();

    private Customers(Shop shop, int orders) {
        this.shop = shop;
        this.orders = orders;
    }

    /** Starts ordering: this many orders in total, including cancelled ones. */
    static Customers order(Shop shop, int orders) {
        Customers customers = new Customers(shop, orders);
        for (int i = 0; i < THREADS; i++) {
            customers.shopping.add(customers.threads.submit(customers::goShopping));
        }
        return customers;
    }

    private Void goShopping() throws SQLException {
        for (int number = nextOrder.incrementAndGet(); number <= orders; number = nextOrder.incrementAndGet()) {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            shop.place(new Order(
                    "order-" + number,
                    "customer-" + random.nextInt(CUSTOMERS),
                    random.nextInt(100, 50_000),
                    random.nextDouble() < CANCELLED));
        }
        return null;
    }

    /**
     * True once every order was placed or cancelled.
     *
     * @throws ExecutionException if an order could not be placed
     */
    boolean areDone() throws ExecutionException, InterruptedException {
        for (Future<?> thread : shopping) {
            if (!thread.isDone()) {
                return false;
            }
            thread.get();
        }
        return true;
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
