package dev.outbox.benchmarks;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** A thread that others can wait for, and whose failure is not lost. */
final class Loop {
    private final FutureTask<Void> task;

    private Loop(FutureTask<Void> task) {
        this.task = task;
    }

    @FunctionalInterface
    interface Body {
        void run() throws Exception;
    }

    static Loop start(String name, Body body) {
        FutureTask<Void> task = new FutureTask<>(() -> {
            body.run();
            return null;
        });
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        return new Loop(task);
    }

    /** Waits until the thread is done, and rethrows its failure. */
    void await() throws InterruptedException {
        try {
            task.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a thread of the benchmark failed: " + e.getCause(), e.getCause());
        }
    }
}
