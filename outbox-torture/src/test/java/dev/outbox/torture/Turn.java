package dev.outbox.torture;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.torture.Verdict.Violation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * One turn of the torture: tables of its own, a producer and workers under load while faults are injected, then peace
 * until everything is worked off, then the verdict.
 */
final class Turn {
    private static final Duration TICK = Duration.ofMillis(20);
    private static final Duration START = Duration.ofMinutes(5);
    private static final int FIRST_MESSAGES = 50;
    private static final int MOST_PATIENCE = 8;

    private final Plan plan;
    private final Server server;

    private Turn(Plan plan, Server server) {
        this.plan = plan;
        this.server = server;
    }

    /**
     * @param faults injected all in the same turn
     * @param backgroundKills whether children are killed now and then, whatever else happens
     * @param once whether each fault comes once only, and soon, instead of again and again
     * @param load how long messages are produced
     * @param patience after how long without any progress, in peace, what is unfinished counts as stuck
     * @param variant the class of what the children make of the library
     * @param workers how many JVMs deliver
     * @param backlog so many messages may wait at a time
     * @param directory where the histories are kept; emptied if the verdict is clean
     */
    record Plan(
            Tables tables,
            Set<Fault> faults,
            boolean backgroundKills,
            boolean once,
            Duration load,
            Duration patience,
            long seed,
            String variant,
            int workers,
            int backlog,
            Path directory) {}

    /**
     * @param kills children that died by SIGKILL, at a step, or of a message
     * @param recovery from the end of the faults until everything was worked off
     */
    record Result(
            Map<Fault, Integer> injected, int kills, long delivered, long fenced, Duration recovery, Verdict verdict) {}

    static Result run(Plan plan, Server server) {
        try {
            empty(plan.directory()); // of a run that was broken off
            Files.createDirectories(plan.directory());
            return new Turn(plan, server).run();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException("the harness failed", e);
        }
    }

    private Result run() throws IOException, SQLException, InterruptedException {
        plan.tables().create(server.dataSource(), plan.faults().contains(Fault.MIGRATION));
        boolean proxied = plan.faults().stream().anyMatch(Fault::isOfTheNetwork);
        boolean bounced = plan.faults().contains(Fault.PGBOUNCER);
        try (FaultProxy proxy = proxied ? new FaultProxy(server.port()) : null;
                PgBouncer bouncer = bounced
                        ? PgBouncer.inTransactionMode(proxied ? proxy.port() : server.port(), plan.directory())
                        : null) {
            String url = Server.jdbcUrl(bounced ? bouncer.port() : proxied ? proxy.port() : server.port());
            // a seed each, so that what one does is not the other's accident
            try (Crew crew = new Crew(plan, url, new Random(plan.seed()))) {
                awaitTraffic(crew);
                Injector injector = new Injector(plan, server, proxy, crew, new Random(~plan.seed()));
                torment(injector);
                injector.heal();
                crew.stopProducing();
                long healed = System.nanoTime();
                workOff(injector);
                Duration recovery = Duration.ofNanos(System.nanoTime() - healed);
                crew.killAll();
                return judge(crew, injector, recovery);
            }
        }
    }

    /** Faults are for those who are at work. */
    private void awaitTraffic(Crew crew) throws SQLException, InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        long start = System.nanoTime();
        while (count("SELECT count(*) FROM " + plan.tables().outbox() + " WHERE status >= 2") < FIRST_MESSAGES) {
            crew.supervise();
            never.await(TICK.toMillis(), TimeUnit.MILLISECONDS);
            if (System.nanoTime() - start > START.toNanos()) {
                throw new IllegalStateException(
                        "nothing is delivered " + START + " after the start; see the logs in " + plan.directory());
            }
        }
    }

    /** As long as planned, and longer if a fault has not been injected yet. */
    private void torment(Injector injector) throws InterruptedException {
        long start = System.nanoTime();
        do {
            tickUntil(injector, System.nanoTime() + 5 * TICK.toNanos());
        } while (System.nanoTime() - start < plan.load().toNanos()
                || !injector.hasInjectedAll() && System.nanoTime() - start < START.toNanos());
    }

    private static void tickUntil(Injector injector, long end) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        do {
            injector.tick();
            never.await(TICK.toMillis(), TimeUnit.MILLISECONDS);
        } while (System.nanoTime() - end < 0);
    }

    /** Until nothing is unfinished, or what is has nothing to wait for and yet is not finished; but not for ever. */
    private void workOff(Injector injector) throws SQLException, InterruptedException {
        long before = Long.MAX_VALUE;
        long start = System.nanoTime();
        long progress = start;
        long most = MOST_PATIENCE * plan.patience().toNanos();
        while (System.nanoTime() - progress < plan.patience().toNanos() && System.nanoTime() - start < most) {
            long unfinished = unfinished("");
            if (unfinished == 0) {
                return;
            }
            if (unfinished != before || unfinished(" AND (due_on > now() OR locked_until > now())") > 0) {
                before = unfinished;
                progress = System.nanoTime();
            }
            accompanyPoison();
            tickUntil(injector, System.nanoTime() + 5 * TICK.toNanos());
        }
    }

    /**
     * Sends good messages as long as there is poison. A route that is left with nothing but poison accepts nothing, and
     * then no message becomes Dead by its last attempt.
     */
    private void accompanyPoison() throws SQLException {
        boolean retried = plan.faults().contains(Fault.POISON) || plan.faults().contains(Fault.POISON_STORM);
        if (!retried || unfinished(" AND payload LIKE '" + Payload.POISON + "%'") == 0) {
            return;
        }
        Outbox outbox = PostgresOutbox.builder(server.dataSource())
                .table(plan.tables().outbox())
                .build();
        try (Connection connection = server.connect()) {
            connection.setAutoCommit(false);
            for (String topic : List.of(Consumer.EDGE, Consumer.QUEUE)) {
                outbox.enqueue(
                        connection,
                        Message.to(topic).id("good-" + UUID.randomUUID()).payload(Payload.FINE.name()));
            }
            connection.commit();
        }
    }

    private long unfinished(String which) throws SQLException {
        return count("SELECT (SELECT count(*) FROM " + plan.tables().outbox() + " WHERE status < 2" + which
                + ") + (SELECT count(*) FROM " + plan.tables().inbox() + " WHERE status < 2" + which + ")");
    }

    private long count(String sql) throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private Result judge(Crew crew, Injector injector, Duration recovery) throws SQLException, IOException {
        History.Seen seen = History.Seen.read(crew.histories());
        Evidence evidence = Evidence.collect(server, plan.tables(), seen, plan.faults());
        Verdict verdict = Checker.judge(evidence);
        crew.unexplained().forEach(end -> verdict.add(Violation.STUCK, "%s", end));
        if (verdict.isClean()) {
            empty(plan.directory());
        } else {
            keep(verdict);
        }
        plan.tables().drop(server.dataSource());
        return new Result(
                injector.injected(seen),
                crew.deaths(),
                seen.delivered().get(),
                seen.fenced().size(),
                recovery,
                verdict);
    }

    private static void empty(Path directory) throws IOException {
        if (Files.notExists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** Beside the histories of the processes: the verdict, and what the database has. */
    private void keep(Verdict verdict) throws IOException, SQLException {
        Files.write(plan.directory().resolve("verdict.txt"), verdict.details());
        Files.writeString(plan.directory().resolve("plan.txt"), plan.toString());
        for (String table : new String[] {
            plan.tables().outbox(),
            plan.tables().inbox(),
            plan.tables().effects(),
            plan.tables().audit()
        }) {
            try (Connection connection = server.connect();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("SELECT t::text FROM " + table + " t");
                    var out = Files.newBufferedWriter(plan.directory().resolve(table + ".txt"))) {
                while (row.next()) {
                    out.write(row.getString(1));
                    out.newLine();
                }
            }
        }
    }
}
