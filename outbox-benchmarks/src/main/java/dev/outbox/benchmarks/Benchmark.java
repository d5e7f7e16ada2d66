package dev.outbox.benchmarks;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Runs scenarios on an embedded PostgreSQL and compares their contenders. {@code -Dbench=drain,latency-50} runs the
 * scenarios whose names begin with these, {@code -Dbench.rounds=5} measures each contender five times, and {@code
 * -Dbench.smoke=true} only checks that everything works.
 */
public final class Benchmark {
    private final Settings settings;
    private final PrintStream out;
    private final Results results = new Results();

    Benchmark(Settings settings, PrintStream out) {
        this.settings = settings;
        this.out = out;
    }

    public static void main(String[] args) throws Exception {
        int code = 0;
        try {
            new Benchmark(Settings.fromSystemProperties(), System.out).run();
        } catch (WrongResultException | IllegalArgumentException e) {
            System.err.println(e.getMessage());
            code = 1;
        }
        // Peers leave threads behind that are not daemons.
        System.exit(code);
    }

    /** @throws WrongResultException if a contender lost, duplicated or reordered a message */
    Results run() throws Exception {
        List<Scenario> scenarios = Scenarios.beginningWith(settings.scenarios());
        Map<String, List<Scenario>> families = scenarios.stream()
                .collect(Collectors.groupingBy(Scenario::family, LinkedHashMap::new, Collectors.toList()));
        Files.createDirectories(settings.results());
        try (Server server = Server.start(settings.smoke())) {
            introduce(server);
            for (List<Scenario> family : families.values()) {
                runFamily(server, family);
                report(family);
            }
        }
        out.println();
        out.println("Results: " + settings.results().resolve("results.csv"));
        return results;
    }

    private void introduce(Server server) throws Exception {
        out.println(server.describe());
        out.printf(
                Locale.ROOT,
                "Java %s, %d processors, load %.1f, HikariCP %s%n",
                Runtime.version(),
                Runtime.getRuntime().availableProcessors(),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Versions.of("com.zaxxer", "HikariCP"));
        if (settings.smoke()) {
            out.println("A smoke: the figures below mean nothing.");
        }
    }

    private void runFamily(Server server, List<Scenario> family) throws Exception {
        for (Scenario scenario : family) {
            out.println();
            out.println(scenario.name() + ": " + scenario.question());
            for (Contender contender : scenario.contenders()) {
                out.println("  " + contender.name() + ": " + contender.settings());
            }
        }
        out.println();
        for (int round = settings.smoke() ? 1 : 0; round <= settings.rounds(); round++) {
            for (Scenario scenario : family) {
                for (Contender contender : scenario.contenders()) {
                    run(server, scenario, contender, round);
                }
            }
        }
    }

    /** Round 0 warms up and is not recorded. */
    private void run(Server server, Scenario scenario, Contender contender, int round) throws Exception {
        Scale scale = settings.smoke() ? Scale.SMOKE : round == 0 ? Scale.WARM_UP : Scale.FULL;
        Measurement measurement;
        try (Database database = contender.database(server, scale)) {
            measurement = contender.run(new Trial(server, database, scale));
        } catch (WrongResultException e) {
            throw new WrongResultException(scenario.name() + ", " + contender.name() + ": " + e.getMessage());
        }
        if (round > 0) {
            results.add(new Results.Row(scenario.name(), contender.name(), round, measurement));
        }
        out.printf("%-25s %-9s %-13s %s%n", scenario.name(), label(round), contender.name(), text(measurement));
    }

    private String label(int round) {
        return round == 0 ? "warm-up" : round + "/" + settings.rounds();
    }

    private static String text(Measurement m) {
        return (number("%,9.0f /s", m.perSecond())
                        + number("  p50 %.2f ms", m.p50Millis())
                        + number("  p99 %.2f ms", m.p99Millis())
                        + number("  max %.2f ms", m.maxMillis())
                        + number("%,9.0f /min", m.idlePerMinute())
                        + number("  db CPU %.1f us", m.databaseCpuMicros())
                        + number("  WAL %,.0f B", m.walBytes()))
                .stripTrailing();
    }

    private static String number(String format, @Nullable Double value) {
        return value == null ? "" : String.format(Locale.ROOT, format, value);
    }

    private void report(List<Scenario> family) throws IOException {
        results.writeCsv(settings.results().resolve("results.csv"));
        for (Scenario scenario : family) {
            Summary summary = new Summary(scenario, results);
            out.println();
            out.println(summary.table());
            String objection = summary.objection();
            if (objection != null && !settings.smoke()) {
                out.println(objection);
            }
            Files.writeString(settings.results().resolve(scenario.name() + ".svg"), new Chart(scenario, results).svg());
        }
    }
}
