package dev.outbox.torture;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;

/** Injects the faults of one turn, each at its own pace, and takes them back at the end. Not thread-safe. */
final class Injector {
    /** Longer than a lease, and longer than the driver waits. */
    private static final Duration BLACK_HOLE = ChildSettings.LEASE.plusMillis(3_000);

    private static final Duration INTO_DELIVERY = Duration.ofSeconds(2);
    private static final Duration PAUSE = ChildSettings.LEASE.plusMillis(1_000);

    private static final String TERMINATE_SOME = """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND random() < 0.3""";

    /** As an operator does it, once what was wrong is mended. */
    private static final String REQUEUE = """
            WITH dead AS (
                SELECT work_item_id, message_id FROM %1$s WHERE status = 3 AND payload = 'POISON' ORDER BY sequence LIMIT 5 FOR UPDATE SKIP LOCKED
            ),
            mended AS (
                INSERT INTO %2$s SELECT message_id FROM dead ON CONFLICT DO NOTHING RETURNING 1
            )
            UPDATE %1$s SET status = 0, attempt_count = 0, due_on = now()
            WHERE work_item_id IN (SELECT work_item_id FROM dead)""";

    private final Turn.Plan plan;
    private final Server server;
    private final FaultProxy proxy;
    private final Crew crew;
    private final Random random;
    private final Map<Fault, Long> next = new EnumMap<>(Fault.class);
    private final Map<Fault, Integer> injected = new EnumMap<>(Fault.class);
    private final List<Later> later = new ArrayList<>();
    private int deadlocksBefore;
    private Connection oldSnapshot;
    private Migration migration;

    private record Later(long at, Runnable what) {}

    /** @param proxy null if no fault is of the network */
    Injector(Turn.Plan plan, Server server, FaultProxy proxy, Crew crew, Random random) throws SQLException {
        this.plan = plan;
        this.server = server;
        this.proxy = proxy;
        this.crew = crew;
        this.random = random;
        for (Fault fault : plan.faults()) {
            if (!fault.every().isZero()) {
                schedule(fault);
            }
        }
        if (plan.backgroundKills() && !plan.faults().contains(Fault.KILL)) {
            schedule(Fault.KILL);
        }
        begin();
    }

    /** What lasts for the whole turn. */
    private void begin() throws SQLException {
        if (plan.faults().contains(Fault.OLD_SNAPSHOT)) {
            oldSnapshot = server.connect();
            oldSnapshot.setAutoCommit(false);
            oldSnapshot.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            query(oldSnapshot, "SET LOCAL idle_in_transaction_session_timeout = 0; SELECT count(*) FROM pg_class");
            count(Fault.OLD_SNAPSHOT, 1);
        }
        if (plan.faults().contains(Fault.MIGRATION)) {
            migration =
                    new Migration(plan.tables(), Variant.named(plan.variant()).dataSource(server.dataSource()));
        }
        deadlocksBefore = deadlocks();
        if (plan.faults().contains(Fault.PGBOUNCER)) {
            count(Fault.PGBOUNCER, 1);
        }
    }

    /** Half of its pace from now at the earliest; what comes once only comes, and is tried again, three times as fast. */
    private void schedule(Fault fault) {
        long every = fault.every().toNanos() / (plan.once() ? 3 : 1);
        next.put(fault, System.nanoTime() + every / 2 + (long) (random.nextDouble() * every));
    }

    private void count(Fault fault, int times) {
        injected.merge(fault, times, Integer::sum);
    }

    /** Does what is due. */
    void tick() {
        long now = System.nanoTime();
        for (Later one : List.copyOf(later)) {
            if (now - one.at >= 0) {
                later.remove(one);
                one.what.run();
            }
        }
        if (proxy != null) {
            proxy.resetHoles(BLACK_HOLE);
        }
        crew.supervise();
        crew.causesOfDeath().forEach(fault -> count(fault, 1));
        for (Map.Entry<Fault, Long> due : List.copyOf(next.entrySet())) {
            if (now - due.getValue() >= 0) {
                int times = inject(due.getKey());
                schedule(due.getKey());
                if (times > 0) {
                    count(due.getKey(), times);
                    if (plan.once() && hasHappened(due.getKey())) {
                        next.remove(due.getKey());
                    }
                }
            }
        }
    }

    /** How many times it was injected just now. */
    private int inject(Fault fault) {
        int before = injected.getOrDefault(fault, 0);
        switch (fault) {
            case KILL -> {
                return crew.killOne() ? 1 : 0;
            }
            case PAUSE -> {
                if (!later.isEmpty()) {
                    return 0; // somebody must be there to take over
                }
                return toWorker(worker -> {
                    worker.pauseWithin(INTO_DELIVERY);
                    after(INTO_DELIVERY.plus(PAUSE), worker::resume);
                });
            }
            case RESET -> {
                return proxy.reset() > 0 ? 1 : 0;
            }
            case RESET_IN_COMMIT -> {
                proxy.hitNextCommit(
                        random.nextBoolean() ? FaultProxy.InCommit.RESET_BEFORE : FaultProxy.InCommit.RESET_AFTER);
                return proxy.hits(FaultProxy.InCommit.RESET_BEFORE, FaultProxy.InCommit.RESET_AFTER) - before;
            }
            case BLACK_HOLE_IN_COMMIT -> {
                proxy.hitNextCommit(
                        random.nextBoolean()
                                ? FaultProxy.InCommit.SWALLOWED_BEFORE
                                : FaultProxy.InCommit.SWALLOWED_AFTER);
                return proxy.hits(FaultProxy.InCommit.SWALLOWED_BEFORE, FaultProxy.InCommit.SWALLOWED_AFTER) - before;
            }
            case BLACK_HOLE_TO_SERVER -> {
                return cutOff(FaultProxy.Direction.TO_SERVER);
            }
            case BLACK_HOLE_TO_CLIENT -> {
                return cutOff(FaultProxy.Direction.TO_CLIENT);
            }
            case DATABASE_CRASH -> {
                server.crashAndRestart();
                deadlocksBefore = 0; // it forgets its statistics
            }
            case BACKEND_TERMINATION -> {
                return query(TERMINATE_SOME) > 0 ? 1 : 0;
            }
            case POOL_EXHAUSTION -> {
                return toWorker(worker -> worker.tell("exhaust " + (500 + random.nextInt(1_500))));
            }
            case CLOCK_JUMP -> {
                String jump = "clock " + (random.nextInt(7_200_000) - 3_600_000);
                if (random.nextInt(4) == 0) {
                    crew.producer().tell(jump);
                    return 1;
                }
                return toWorker(worker -> worker.tell(jump));
            }
            case DEADLOCK -> {
                return deadlocks() - deadlocksBefore - before;
            }
            case FLAPPING -> {
                return toWorkers("down " + (700 + random.nextInt(600)) + " " + random.nextBoolean());
            }
            case SLOW_DESTINATION -> {
                return toWorkers("slow " + (1_000 + random.nextInt(2_000)));
            }
            case SIGTERM -> {
                return toWorker(Child::terminate);
            }
            case HOT_KEY -> {
                return update(REQUEUE.formatted(
                                plan.tables().outbox(), plan.tables().mended()))
                        + update(REQUEUE.formatted(
                                plan.tables().inbox(), plan.tables().mended()));
            }
            default -> throw new IllegalStateException(fault + " is not injected at a moment");
        }
        return 1;
    }

    /** Does it to a worker who is at work, if there is one. */
    private int toWorker(Consumer<Child> what) {
        Child worker = crew.worker();
        if (worker == null) {
            return 0;
        }
        what.accept(worker);
        return 1;
    }

    /** What all of them share is at fault. */
    private int toWorkers(String command) {
        List<Child> atWork = crew.workers().stream().filter(Child::isAtWork).toList();
        atWork.forEach(worker -> worker.tell(command));
        return atWork.isEmpty() ? 0 : 1;
    }

    /** Somebody must be there to take over. */
    private int cutOff(FaultProxy.Direction direction) {
        if (proxy.cutOff() + 1 >= plan.workers()) {
            return 0;
        }
        return toWorker(worker -> {
            String name = worker.settings().name();
            proxy.blackHole(name, direction);
            after(BLACK_HOLE, () -> proxy.heal(name));
        });
    }

    private void after(Duration pause, Runnable what) {
        later.add(new Later(System.nanoTime() + pause.toNanos(), what));
    }

    /** Everything works again. */
    void heal() throws SQLException, InterruptedException {
        next.clear();
        later.clear();
        if (proxy != null) {
            proxy.heal();
        }
        crew.workers().forEach(worker -> worker.tell("clock 0"));
        crew.producer().tell("clock 0");
        crew.calm();
        after(INTO_DELIVERY, crew::calm); // somebody may have stopped at this very moment
        if (oldSnapshot != null) {
            oldSnapshot.close();
        }
        if (migration != null) {
            migration.stop();
            if (migration.isComplete()) {
                count(Fault.MIGRATION, 1);
            }
        }
    }

    /** Whether none of the turn's faults is still to come for the first time. */
    boolean hasInjectedAll() {
        return plan.faults().stream().allMatch(this::hasHappened);
    }

    private boolean hasHappened(Fault fault) {
        if (fault.isDoneByAChild()) {
            return History.Seen.read(crew.histories()).injected().containsKey(fault);
        }
        return fault == Fault.MIGRATION ? migration.isOver() : injected.getOrDefault(fault, 0) > 0;
    }

    /** How often each fault happened; of what children do to themselves, as they tell. */
    Map<Fault, Integer> injected(History.Seen seen) {
        Map<Fault, Integer> all = new EnumMap<>(injected);
        all.keySet().removeIf(Fault::isDoneByAChild);
        all.putAll(seen.injected());
        return all;
    }

    private int deadlocks() {
        return (int) query("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
    }

    private long query(String sql) {
        try (Connection connection = server.connect()) {
            return query(connection, sql);
        } catch (SQLException e) {
            return 0; // the database has a fault of its own just now
        }
    }

    private static long query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            boolean rows = statement.execute(sql);
            while (!rows) {
                rows = statement.getMoreResults();
            }
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    private int update(String sql) {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        } catch (SQLException e) {
            return 0; // the database has a fault of its own just now
        }
    }
}
