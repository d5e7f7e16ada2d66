package dev.outbox.torture;

import dev.outbox.ConflictException;
import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.PermanentFailureException;
import dev.outbox.WorkItem;
import dev.outbox.delivery.BatchDestination;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.RetryAfterException;
import dev.outbox.delivery.TransactionalDestination;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/**
 * What is at the other end of the wire: a consumer with an inbox. Messages to {@link #EDGE} have their effect in the
 * transaction that receives them; messages to {@link #QUEUE} are stored, and have it when a poller handles them.
 */
final class Consumer implements BatchDestination, TransactionalDestination {
    static final String EDGE = "edge";
    static final String QUEUE = "queue";
    private static final String SOURCE = "producers";
    private static final String ALTERED = "altered";
    /** Items of a key are delivered one after the other, so a slow one holds up all that follow. */
    private static final int SLOW_ONE_IN = 50;

    private final ChildSettings settings;
    private final DataSource dataSource;
    private final Inbox inbox;
    private final History history;
    private final Step.Plan plan;
    private final Impairment impairment;
    private final AtomicLong pauseUntil = new AtomicLong(System.nanoTime());
    private final ExecutorService rivals = Executors.newCachedThreadPool(body -> {
        Thread thread = new Thread(body, "rival");
        thread.setDaemon(true);
        return thread;
    });

    Consumer(ChildSettings settings, DataSource dataSource, Inbox inbox, History history, Step.Plan plan) {
        this.settings = settings;
        this.dataSource = dataSource;
        this.inbox = inbox;
        this.history = history;
        this.plan = plan;
        this.impairment = new Impairment(history);
    }

    Impairment impairment() {
        return impairment;
    }

    /** The wire: what the outbox delivers. */
    @Override
    public List<Outcome> deliver(List<WorkItem> items) throws Exception {
        history.write("delivered", items.stream().map(WorkItem::messageId).toList());
        impairment.begin();
        List<Outcome> outcomes = new ArrayList<>();
        List<WorkItem> taken = new ArrayList<>();
        for (WorkItem item : items) {
            Outcome refused = item.topic().equals(EDGE) || payload(item) == Payload.KILLS ? refusal(item) : null;
            outcomes.add(refused == null ? Outcome.done() : refused);
            if (refused == null) {
                taken.add(item);
            }
        }
        if (!taken.isEmpty()) {
            if (settings.has(Fault.DUPLICATE_STORM)) {
                storm(taken);
            } else {
                consume(taken, false, false);
            }
        }
        impairment.end();
        return outcomes;
    }

    /** What is handled from the inbox. */
    @Override
    public void deliver(Connection tx, WorkItem item) throws Exception {
        impairment.begin();
        Outcome refused = refusal(item);
        if (refused != null) {
            throw new IllegalStateException("it is " + payload(item));
        }
        plan.at(Step.BEFORE_EFFECT);
        writeEffects(tx, List.of(item.messageId()), false);
        impairment.end();
        plan.at(Step.AFTER_EFFECT);
    }

    private static Payload payload(WorkItem item) {
        return Payload.of(item.payload());
    }

    private Outcome refusal(WorkItem item) throws SQLException {
        switch (payload(item)) {
            case KILLS -> Runtime.getRuntime().halt(Payload.EXIT_CODE);
            case POISON -> {
                if (!isMended(item.messageId())) {
                    return settings.has(Fault.POISON) || settings.has(Fault.POISON_STORM)
                            ? Outcome.retry(new IllegalStateException("poison"))
                            : Outcome.dead(new PermanentFailureException("poison"));
                }
            }
            case FAILS_AT_FIRST -> {
                if (item.attempt() <= Payload.FIRST_ATTEMPTS) {
                    return Outcome.retry(new IllegalStateException("fails at first"));
                }
            }
            case BUSY -> {
                if (ThreadLocalRandom.current().nextBoolean()) {
                    return Outcome.retry(new RetryAfterException(
                            Duration.ofMillis(ThreadLocalRandom.current().nextInt(200)), "busy"));
                }
            }
            case FINE -> {}
        }
        return null;
    }

    private boolean isMended(String messageId) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement query = connection.prepareStatement(
                        "SELECT 1 FROM " + settings.tables().mended() + " WHERE message_id = ?")) {
            query.setString(1, messageId);
            try (ResultSet row = query.executeQuery()) {
                return row.next();
            }
        }
    }

    /**
     * Both of two consumers get the messages at the same time, as in a rebalance: one acknowledgement is enough, and
     * one of the two may fail at the last moment. Meanwhile somebody sends other content under the same ids.
     */
    private void storm(List<WorkItem> items) throws Exception {
        history.write("injected", Fault.DUPLICATE_STORM);
        boolean oneFails = ThreadLocalRandom.current().nextInt(3) == 0;
        CompletableFuture<Void> first = CompletableFuture.runAsync(() -> rival(items, oneFails, false), rivals);
        CompletableFuture<Void> second = CompletableFuture.runAsync(() -> rival(items, false, false), rivals);
        Exception failure = outcome(first);
        Exception other = outcome(second);
        if (failure != null && other != null) {
            throw other;
        }
        if (ThreadLocalRandom.current().nextInt(4) == 0) {
            outcome(CompletableFuture.runAsync(() -> rival(items, false, true), rivals));
        }
    }

    private void rival(List<WorkItem> items, boolean rollsBack, boolean altered) {
        try {
            consume(items, rollsBack, altered);
        } catch (Exception e) {
            throw new CompletionException(e);
        }
    }

    private static Exception outcome(CompletableFuture<Void> rival) {
        try {
            rival.join();
            return null;
        } catch (CompletionException e) {
            return e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private void consume(List<WorkItem> items, boolean rollsBack, boolean altered) throws Exception {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            try {
                List<String> effects = new ArrayList<>();
                List<Incoming> queued = new ArrayList<>();
                for (WorkItem item : items) {
                    Incoming incoming =
                            Incoming.from(SOURCE, item.messageId()).payload(altered ? ALTERED : item.payload());
                    if (item.topic().equals(QUEUE)) {
                        queued.add(incoming.topic(QUEUE).key(item.key()));
                    } else if (inbox.receive(tx, incoming).isFirst()) {
                        effects.add(item.messageId());
                    }
                }
                plan.at(Step.BEFORE_EFFECT);
                writeEffects(tx, effects, altered);
                if (!queued.isEmpty()) {
                    inbox.enqueueAll(tx, queued);
                }
                boolean slow = settings.has(Fault.HOT_KEY)
                        && ThreadLocalRandom.current().nextInt(SLOW_ONE_IN) == 0;
                if (slow) {
                    takeTime(tx);
                }
                if (System.nanoTime() - pauseUntil.getAndSet(System.nanoTime()) < 0) {
                    pause();
                }
                plan.at(Step.AFTER_EFFECT);
                if (rollsBack) {
                    throw new IllegalStateException("rolled back at the last moment");
                }
                plan.at(Step.BEFORE_COMMIT);
                tx.commit();
                history.write("effect", effects);
                if (altered) {
                    history.write(
                            "altered", items.stream().map(WorkItem::messageId).toList());
                }
                plan.at(Step.AFTER_COMMIT);
            } catch (ConflictException e) {
                tx.rollback();
                if (!altered) {
                    throw e;
                }
            } catch (Exception e) {
                rollback(tx, e);
                throw e;
            }
        }
    }

    /** The next delivery within this time stops the whole process right before its commit, until SIGCONT. */
    void pauseWithin(Duration time) {
        pauseUntil.set(System.nanoTime() + time.toNanos());
    }

    private void pause() throws IOException, InterruptedException {
        history.write("injected", Fault.PAUSE);
        String pid = String.valueOf(ProcessHandle.current().pid());
        new ProcessBuilder("kill", "-STOP", pid).start().waitFor();
    }

    /** So that an operator finds workers in the middle of a delivery. */
    private static void takeTime(Connection tx) throws SQLException {
        try (PreparedStatement sleep = tx.prepareStatement("SELECT pg_sleep(random() * 0.4)")) {
            sleep.execute();
        }
    }

    private static void rollback(Connection tx, Exception cause) {
        try {
            tx.rollback();
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }

    private void writeEffects(Connection tx, List<String> messageIds, boolean altered) throws SQLException {
        if (messageIds.isEmpty()) {
            return;
        }
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO "
                + settings.tables().effects()
                + " (message_id, altered) SELECT id, ? FROM unnest(?) WITH ORDINALITY AS u(id, n) ORDER BY n")) {
            insert.setBoolean(1, altered);
            insert.setArray(2, tx.createArrayOf("text", messageIds.toArray()));
            insert.executeUpdate();
        }
        if (settings.has(Fault.DEADLOCK) && ThreadLocalRandom.current().nextInt(3) == 0) {
            lockTwoCounters(tx);
        }
    }

    private void lockTwoCounters(Connection tx) throws SQLException {
        try (PreparedStatement count =
                tx.prepareStatement("UPDATE " + settings.tables().counters() + " SET value = value + 1 WHERE id = ?")) {
            int first = ThreadLocalRandom.current().nextInt(4);
            for (int id :
                    new int[] {first, (first + 1 + ThreadLocalRandom.current().nextInt(3)) % 4}) {
                count.setInt(1, id);
                count.executeUpdate();
            }
        }
    }
}
