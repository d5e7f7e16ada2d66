package dev.outbox.postgres;

import dev.outbox.Message;
import dev.outbox.Outbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;

/** An application: threads that enqueue in transactions of their own, some of which roll back. */
final class Producers implements AutoCloseable {
    private static final int PER_TRANSACTION = 50;

    private final DataSource dataSource;
    private final Outbox outbox;
    private final int keys;
    private final Set<String> committed = ConcurrentHashMap.newKeySet();
    private final Set<String> rolledBack = ConcurrentHashMap.newKeySet();
    private final List<Future<?>> work = new ArrayList<>();
    private final ExecutorService threads;

    /** Starts so many threads; together they commit so many messages, half of them over so many keys. */
    Producers(DataSource dataSource, Outbox outbox, int threadCount, int messages, int keys) {
        this.dataSource = dataSource;
        this.outbox = outbox;
        this.keys = keys;
        this.threads = Executors.newFixedThreadPool(threadCount);
        for (int i = 0; i < threadCount; i++) {
            int share = messages / threadCount + (i < messages % threadCount ? 1 : 0);
            Random random = new Random(i);
            work.add(threads.submit(() -> {
                enqueue(share, random);
                return null;
            }));
        }
    }

    /** Waits for all of them; answers the ids that were committed. */
    Set<String> committed() throws Exception {
        for (Future<?> part : work) {
            part.get();
        }
        return committed;
    }

    Set<String> rolledBack() {
        return rolledBack;
    }

    private void enqueue(int share, Random random) throws SQLException {
        int left = share;
        while (left > 0) {
            List<Message> messages = messages(Math.min(left, PER_TRANSACTION), random);
            boolean commits = random.nextInt(10) > 0;
            try (Connection tx = dataSource.getConnection()) {
                tx.setAutoCommit(false);
                List<String> ids = outbox.enqueueAll(tx, messages).stored();
                if (commits) {
                    tx.commit();
                    committed.addAll(ids);
                    left -= messages.size();
                } else {
                    tx.rollback();
                    rolledBack.addAll(ids);
                }
                tx.setAutoCommit(true);
            }
        }
    }

    private List<Message> messages(int count, Random random) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Message message = Message.to("drain").payload("payload of some length, as payloads are");
            messages.add(i % 2 == 0 ? message : message.key("key-" + random.nextInt(keys)));
        }
        return messages;
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
