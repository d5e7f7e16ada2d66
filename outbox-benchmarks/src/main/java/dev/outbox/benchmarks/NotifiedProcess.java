package dev.outbox.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.postgres.PostgresOutbox;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A JVM of its own with a poller in it. It writes a line when it is ready and one for each message, its number and the time
 * it came; it ends when its input ends, which is also the case when its parent dies.
 */
final class NotifiedProcess implements Running {
    private static final String READY = "ready";

    private final Process process;
    private final Loop reader;

    private NotifiedProcess(Process process, Loop reader) {
        this.process = process;
        this.reader = reader;
    }

    static NotifiedProcess start(String url, Arrivals arrivals) throws IOException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-classpath",
                System.getProperty("java.class.path"),
                NotifiedProcess.class.getName(),
                url);
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        String first = lines.readLine();
        if (!READY.equals(first)) {
            process.destroy();
            throw new IllegalStateException("the process of the poller did not start, it said: " + first);
        }
        return new NotifiedProcess(process, Loop.start("arrivals", () -> read(lines, arrivals)));
    }

    private static void read(BufferedReader lines, Arrivals arrivals) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int blank = line.indexOf(' ');
            arrivals.arrived(Integer.parseInt(line, 0, blank, 10), Long.parseLong(line, blank + 1, line.length(), 10));
        }
    }

    @Override
    public void stop() throws IOException, InterruptedException {
        process.outputWriter(StandardCharsets.UTF_8).close();
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        reader.await();
    }

    /** @param args the address of the database */
    public static void main(String[] args) throws Exception {
        String url = args[0];
        try (HikariDataSource pool = Database.pool(url, Relay.CONNECTIONS)) {
            Poller poller = PostgresOutbox.builder(pool)
                    .notify(Database.direct(url))
                    .build()
                    .poller()
                    .to(NotifiedProcess::report)
                    .batchSize(Relay.BATCH)
                    .start();
            print(READY);
            while (System.in.read() >= 0) {}
            poller.close();
        }
    }

    private static void report(WorkItem item) {
        long now = Arrivals.nowMicros();
        print(Payload.number(item.payload()) + " " + now);
    }

    private static void print(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
