package dev.outbox.torture;

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
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * One turn of the torture: tables of its own, a producer and workers under load while faults are injected, then peace
 * until everything is worked off, then the verdict.
 */
final class Turn {
    private static final Duration TICK = Duration.ofMillis(20);

    private final Plan plan;
    private final Server server;

    private Turn(Plan plan, Server server) {
        this.plan = plan;
        this.server = server;
    }

    /**
     * @param faults injected all in the same turn
     * @param backgroundKills whether children are killed now and then, whatever else happens
     * @param load how long messages are produced
     * @param patience how long everything may take to be worked off, in peace
     * @param variant the class of what the children make of the library
     * @param directory where the histories are kept; emptied if the verdict is clean
     */
    record Plan(
            Tables tables,
            Set<Fault> faults,
            boolean backgroundKills,
            Duration load,
            Duration patience,
            long seed,
            String variant,
            Path directory) {}

    /**
     * @param kills children that died by SIGKILL, at a step, or of a message
     * @param recovery from the end of the faults until everything was worked off
     */
    record Result(
            Map<Fault, Integer> injected,
            int kills,
            long delivered,
            long fenced,
            Duration recovery,
            Verdict verdict) {}

    static Result run(Plan plan, Server server) {
        try {
            Files.createDirectories(plan.directory());
            return new Turn(plan, server).run();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException("the harness failed", e);
        }
    }

    private Result run() throws IOException, SQLException, InterruptedException {
        plan.tables().create(server.dataSource());
        Random random = new Random(plan.seed());
        boolean proxied = plan.faults().stream().anyMatch(Fault::isOfTheNetwork);
        boolean bounced = plan.faults().contains(Fault.PGBOUNCER);
        try (FaultProxy proxy = proxied ? new FaultProxy(server.port()) : null;
                PgBouncer bouncer = bounced
                        ? PgBouncer.inTransactionMode(proxied ? proxy.port() : server.port(), plan.directory())
                        : null) {
            String url = Server.jdbcUrl(bounced ? bouncer.port() : proxied ? proxy.port() : server.port());
            try (Crew crew = new Crew(plan, url, random)) {
                Injector injector = new Injector(plan, server, proxy, crew, random);
                tickUntil(injector, System.nanoTime() + plan.load().toNanos());
                injector.heal();
                crew.stopProducing();
                long healed = System.nanoTime();
                while (unfinished() && System.nanoTime() - healed < plan.patience().toNanos()) {
                    tickUntil(injector, System.nanoTime() + TICK.toNanos());
                }
                Duration recovery = Duration.ofNanos(System.nanoTime() - healed);
                crew.close();
                return judge(crew, injector, recovery);
            }
        }
    }

    private static void tickUntil(Injector injector, long end) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        do {
            injector.tick();
            never.await(TICK.toMillis(), TimeUnit.MILLISECONDS);
        } while (System.nanoTime() - end < 0);
    }

    private boolean unfinished() throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT EXISTS (SELECT 1 FROM "
                        + plan.tables().outbox() + " WHERE status < 2) OR EXISTS (SELECT 1 FROM "
                        + plan.tables().inbox() + " WHERE status < 2)")) {
            row.next();
            return row.getBoolean(1);
        }
    }

    private Result judge(Crew crew, Injector injector, Duration recovery) throws SQLException, IOException {
        History.Seen seen = History.Seen.read(crew.histories());
        Evidence evidence =
                Evidence.collect(server, plan.tables(), seen, plan.faults().contains(Fault.POISON));
        Verdict verdict = Checker.judge(evidence);
        if (verdict.isClean()) {
            clean();
        } else {
            keep(verdict);
        }
        plan.tables().drop(server.dataSource());
        return new Result(
                injector.injected(), crew.deaths(), seen.delivered(), seen.fenced(), recovery, verdict);
    }

    private void clean() throws IOException {
        try (Stream<Path> files = Files.walk(plan.directory())) {
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
            plan.tables().outbox(), plan.tables().inbox(), plan.tables().effects(), plan.tables().audit()
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
