package dev.outbox.torture;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A JVM that was started to be tormented. */
final class Child implements AutoCloseable {
    /** A paused child would not notice that the harness is gone. */
    private static final Set<Process> ALL = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> ALL.forEach(Process::destroyForcibly)));
    }

    private final ChildSettings settings;
    private final Process process;
    private final Writer in;
    private boolean paused;

    private Child(ChildSettings settings, Process process) {
        this.settings = settings;
        this.process = process;
        this.in = process.outputWriter(StandardCharsets.UTF_8);
        ALL.add(process);
        process.onExit().thenAccept(ALL::remove);
    }

    static Child start(Class<?> main, ChildSettings settings, List<String> jvmOptions) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-Xss256k",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xshare:auto",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"));
        command.addAll(jvmOptions);
        command.addAll(settings.toOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        try {
            File log = new File(settings.history().toString().replaceFirst("\\.history$", ".log"));
            return new Child(
                    settings,
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(log)
                            .start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    ChildSettings settings() {
        return settings;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Whether it has written something down: before that it is still starting, and no fault would hit anything. */
    boolean isAtWork() {
        return isAlive() && !paused && settings.history().toFile().length() > 0;
    }

    int exitCode() {
        return process.exitValue();
    }

    /** One line to its stdin; nothing happens if it is gone already. */
    void tell(String line) {
        try {
            in.write(line + "\n");
            in.flush();
        } catch (IOException e) {
            // it is dead, or dying: the supervisor will notice
        }
    }

    void kill() {
        process.destroyForcibly();
        await(30);
    }

    /** SIGTERM; not by way of {@link Process#destroy()}, which takes away its stdin too. */
    void terminate() {
        signal("TERM");
    }

    /** It stops itself with SIGSTOP in the middle of a delivery, if it comes to one within this time. */
    void pauseWithin(Duration time) {
        tell("pause " + time.toMillis());
        paused = true;
    }

    /** SIGCONT. */
    void resume() {
        signal("CONT");
        paused = false;
    }

    /** Whether it has ended in time. */
    boolean await(int seconds) {
        try {
            return process.waitFor(seconds, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void signal(String name) {
        if (!isAlive()) {
            return;
        }
        try {
            new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
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
