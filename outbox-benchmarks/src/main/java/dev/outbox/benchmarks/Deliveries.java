package dev.outbox.benchmarks;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** The destination of every drain: it only counts messages and remembers which ones arrived. Thread-safe. */
final class Deliveries {
    private final Backlog backlog;
    private final AtomicIntegerArray seen;
    private final AtomicIntegerArray lastOfKey;
    private final AtomicInteger arrived = new AtomicInteger();
    private final AtomicInteger doubled = new AtomicInteger();
    private final AtomicInteger overtaken = new AtomicInteger();
    private final CountDownLatch passed;
    private final CountDownLatch complete = new CountDownLatch(1);

    Deliveries(Backlog backlog) {
        this.backlog = backlog;
        this.seen = new AtomicIntegerArray((backlog.messages() >> 5) + 1);
        this.lastOfKey = new AtomicIntegerArray(backlog.keys());
        this.passed = new CountDownLatch(backlog.passed() == 0 ? 0 : 1);
    }

    void arrive(String payload) {
        int number = Payload.number(payload);
        int bit = 1 << number;
        if ((seen.getAndAccumulate(number >> 5, bit, (word, set) -> word | set) & bit) != 0) {
            doubled.incrementAndGet();
            return;
        }
        // The messages of a key have increasing numbers. 0 stands for none, so numbers count from 1 here.
        if (backlog.keys() > 0 && lastOfKey.getAndSet(number % backlog.keys(), number + 1) > number + 1) {
            overtaken.incrementAndGet();
        }
        int count = arrived.incrementAndGet();
        if (count == backlog.passed()) {
            passed.countDown();
        }
        if (count == backlog.messages()) {
            complete.countDown();
        }
    }

    boolean areComplete() {
        return complete.getCount() == 0;
    }

    /** Waits for the messages that are not measured. */
    void awaitPassed(Duration patience) throws InterruptedException {
        await(passed, patience);
    }

    void awaitAll(Duration patience) throws InterruptedException {
        await(complete, patience);
    }

    private void await(CountDownLatch latch, Duration patience) throws InterruptedException {
        if (!latch.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new WrongResultException(arrived + " of " + backlog.messages() + " messages were delivered in "
                    + patience.toSeconds() + " s");
        }
    }

    int messages() {
        return backlog.messages();
    }

    /** @throws WrongResultException unless each message arrived once, and each key in its order */
    void check() {
        check(0);
    }

    /**
     * @param held how many messages must not have arrived
     * @throws WrongResultException unless each other message arrived once, and each key in its order
     */
    void check(int held) {
        int missing = backlog.messages() - held - arrived.get();
        if (missing != 0 || doubled.get() > 0 || overtaken.get() > 0) {
            throw new WrongResultException(missing + " messages are missing, " + doubled + " came twice, " + overtaken
                    + " came before an earlier one of their key");
        }
    }
}
