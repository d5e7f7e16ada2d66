package dev.outbox.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** The children of one turn, and who replaces them when they die. Not thread-safe. */
final class Crew implements AutoCloseable {
    private static final int SIGKILL = 128 + 9;
    private static final int SIGTERM = 128 + 15;

    /**
     * The heap suffices for claims that are bounded by bytes, but not for as many huge messages as the count allows. A
     * poller survives an {@link OutOfMemoryError}, and the items come back when their leases expire; so the error has to
     * end the JVM, or the turn would not show it.
     */
    private static final List<String> OPTIONS_FOR_HUGE_PAYLOADS = List.of("-Xmx128m", "-XX:+ExitOnOutOfMemoryError");

    private final Turn.Plan plan;
    private final String jdbcUrl;
    private final Random random;
    private final List<Step> steps;
    private final List<String> jvmOptions = new ArrayList<>();
    private final List<Child> workers = new ArrayList<>();
    private final List<Fault> causes = new ArrayList<>();
    private final List<String> unexplained = new ArrayList<>();
    private Child producer;
    private boolean calm;
    private boolean producing = true;
    private int started;
    private int deaths;

    Crew(Turn.Plan plan, String jdbcUrl, Random random) {
        this.plan = plan;
        this.jdbcUrl = jdbcUrl;
        this.random = random;
        this.steps = new ArrayList<>(plan.faults().stream()
                .map(Fault::step)
                .filter(step -> step != null)
                .toList());
        if (plan.faults().contains(Fault.CLOCK_JUMP)) {
            jvmOptions.add("-javaagent:" + ClockAgent.jar(plan.directory()));
        }
        if (plan.faults().contains(Fault.HUGE_PAYLOADS)) {
            jvmOptions.addAll(OPTIONS_FOR_HUGE_PAYLOADS);
        }
        this.producer = start(ProducerMain.class);
        for (int i = 0; i < plan.workers(); i++) {
            workers.add(start(WorkerMain.class));
        }
    }

    private Child start(Class<?> main) {
        boolean worker = main == WorkerMain.class;
        String name = (worker ? "w" : "p") + ++started;
        Step crashAt = worker && !calm && !steps.isEmpty() ? steps.get(started % steps.size()) : null;
        int crashPass = plan.once() ? 1 + random.nextInt(5) : 10 + random.nextInt(60);
        return Child.start(
                main,
                new ChildSettings(
                        name,
                        jdbcUrl,
                        plan.tables(),
                        plan.faults(),
                        random.nextLong(),
                        plan.directory().resolve(name + ".history"),
                        plan.variant(),
                        plan.backlog(),
                        crashAt,
                        crashPass),
                jvmOptions);
    }

    /** Replaces whoever has died. */
    void supervise() {
        for (int i = 0; i < workers.size(); i++) {
            Child worker = workers.get(i);
            if (!worker.isAlive()) {
                if (worker.exitCode() == Step.EXIT_CODE) {
                    died(Fault.at(worker.settings().crashAt()));
                    if (plan.once()) {
                        steps.remove(worker.settings().crashAt());
                    }
                } else if (worker.exitCode() == Payload.EXIT_CODE) {
                    died(Fault.POISON);
                } else {
                    checkSignal(worker);
                }
                workers.set(i, start(WorkerMain.class));
            }
        }
        if (producing && !producer.isAlive()) {
            checkSignal(producer);
            producer = start(ProducerMain.class);
        }
    }

    private void checkSignal(Child child) {
        if (child.exitCode() != SIGKILL && child.exitCode() != SIGTERM) {
            unexplained.add(child.settings().name() + " ended by itself with " + child.exitCode());
        }
    }

    /** Children that ended although nobody had told them to. */
    List<String> unexplained() {
        return unexplained;
    }

    private void died(Fault cause) {
        causes.add(cause);
        deaths++;
    }

    /** The faults that workers died of since the last call: the step where they were told to, or a message. */
    List<Fault> causesOfDeath() {
        List<Fault> since = List.copyOf(causes);
        causes.clear();
        return since;
    }

    /**
     * Somebody who is at work is killed, one in eight times the producer.
     *
     * @return whether there was somebody
     */
    boolean killOne() {
        Child victim = producing && random.nextInt(8) == 0 && producer.isAtWork() ? producer : worker();
        if (victim == null) {
            return false;
        }
        victim.kill();
        deaths++;
        return true;
    }

    /** Any worker who is at work; null if there is none. */
    Child worker() {
        List<Child> atWork = workers.stream().filter(Child::isAtWork).toList();
        return atWork.isEmpty() ? null : atWork.get(random.nextInt(atWork.size()));
    }

    Child producer() {
        return producer;
    }

    List<Child> workers() {
        return workers;
    }

    /** How many were killed, by a signal or at a step. */
    int deaths() {
        return deaths;
    }

    /** No more messages; the transactions under way come to their end. */
    void stopProducing() {
        producing = false;
        producer.tell("stop");
        if (!producer.await(120)) {
            producer.kill();
        }
    }

    /** From now on nobody dies by a plan. */
    void calm() {
        calm = true;
        for (Child worker : workers) {
            worker.tell("calm");
            worker.resume();
        }
    }

    List<Path> histories() {
        try (Stream<Path> files = Files.list(plan.directory())) {
            return files.filter(file -> file.toString().endsWith(".history")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void killAll() {
        producer.kill();
        workers.forEach(Child::kill);
    }

    @Override
    public void close() {
        killAll();
    }
}
