package dev.outbox.postgres;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/** A JVM that was started, a {@link WorkerMain} or another, seen from the test. */
final class WorkerProcess implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Path errors;
    private final Process process;

    private WorkerProcess(Process process, Path errors) {
        this.process = process;
        this.errors = errors;
        Thread reader = new Thread(this::read, "stdout of a worker");
        reader.setDaemon(true);
        reader.start();
    }

    static WorkerProcess start(OutboxDatabase database, String table, WorkerMain.Settings settings) {
        List<String> arguments = new ArrayList<>(List.of(database.server().jdbcUrl(), table));
        arguments.addAll(settings.toArguments());
        return start(WorkerMain.class, arguments);
    }

    static WorkerProcess start(Class<?> main, List<String> arguments) {
        return start(main, "-Xmx1g", arguments);
    }

    /** @param heap such as {@code -Xmx64m} */
    static WorkerProcess start(Class<?> main, String heap, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                heap,
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Dorg.slf4j.simpleLogger.log.dev.outbox=debug",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(arguments);
        try {
            Path errors = Files.createTempFile("worker", ".log");
            errors.toFile().deleteOnExit();
            return new WorkerProcess(
                    new ProcessBuilder(command).redirectError(errors.toFile()).start(), errors);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            String line;
            while ((line = out.readLine()) != null) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add("stdout ended: " + e.getMessage());
        }
    }

    /** What it said so far. */
    List<String> lines() {
        return List.copyOf(lines);
    }

    List<String> lines(String start) {
        return lines.stream().filter(line -> line.startsWith(start)).toList();
    }

    /** Waits until it has said this many lines that start so. */
    void await(String start, int count) {
        await(() -> start + " (" + count + " times)", () -> lines(start).size() >= count);
    }

    /** Waits until it has ended, by itself or by a signal. */
    int awaitEnd() {
        await(() -> "its end", () -> !process.isAlive());
        return process.exitValue();
    }

    private void await(Supplier<String> what, Callable<Boolean> condition) {
        try {
            Awaitility.await()
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(5))
                    .until(condition);
        } catch (ConditionTimeoutException e) {
            throw new AssertionError("waited in vain for " + what.get() + "; it said " + lines + " and " + log(), e);
        }
    }

    /** What it logged. */
    String log() {
        try {
            return Files.readString(errors);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void tell(String line) {
        try {
            Writer in = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
            in.write(line + "\n");
            in.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** SIGKILL. */
    void kill() {
        process.destroyForcibly();
        awaitEnd();
    }

    /** SIGTERM; not by way of {@link Process#destroy()}, which takes away its stdin too. */
    void terminate() {
        signal("TERM");
    }

    /** SIGSTOP, as a long pause of the machine. */
    void pause() {
        signal("STOP");
        await(
                () -> "its pause",
                () -> Files.readString(Path.of("/proc", "" + process.pid(), "stat"))
                        .contains(") T "));
    }

    /** SIGCONT. */
    void resume() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            int code = new ProcessBuilder("kill", "-" + name, "" + process.pid())
                    .inheritIO()
                    .start()
                    .waitFor();
            if (code != 0) {
                throw new IllegalStateException("kill -" + name + " answered " + code);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
