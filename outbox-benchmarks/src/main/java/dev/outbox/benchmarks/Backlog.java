package dev.outbox.benchmarks;

/**
 * What is in the table before a drain starts.
 *
 * @param messages to be delivered, numbered from 0
 * @param passed how many of them are delivered before the measuring starts
 * @param keys how many keys they are spread over; 0 means they have none
 * @param done rows of messages that were delivered long ago
 * @param blocked rows of one more key, whose head is not due
 * @param backingOff rows of as many other keys, none of them due
 * @param randomIds whether ids are random, as old applications write them; otherwise they increase, as those of enqueue do
 */
record Backlog(int messages, int passed, int keys, int done, int blocked, int backingOff, boolean randomIds) {
    static Backlog of(int messages) {
        return new Backlog(messages, 0, 0, 0, 0, 0, false);
    }

    static Backlog keyed(int messages, int keys) {
        return new Backlog(messages, 0, keys, 0, 0, 0, false);
    }

    Backlog afterPassing(int passed) {
        return new Backlog(messages + passed, passed, keys, done, blocked, backingOff, randomIds);
    }

    Backlog withDone(int done) {
        return new Backlog(messages, passed, keys, done, blocked, backingOff, randomIds);
    }

    Backlog withBlocked(int blocked) {
        return new Backlog(messages, passed, keys, done, blocked, backingOff, randomIds);
    }

    Backlog withBackingOff(int backingOff) {
        return new Backlog(messages, passed, keys, done, blocked, backingOff, randomIds);
    }

    Backlog withRandomIds() {
        return new Backlog(messages, passed, keys, done, blocked, backingOff, true);
    }

    /** Rows that must still be there, undelivered, in the end. */
    int held() {
        return blocked + backingOff;
    }

    int measured() {
        return messages - passed;
    }

    boolean isPlain() {
        return keys == 0 && done == 0 && held() == 0;
    }

    /** At any scale every key has at least one message. */
    Backlog at(Scale scale) {
        return new Backlog(
                scale.of(messages),
                scale.of(passed),
                keys <= 1 ? keys : scale.of(keys),
                scale.of(done),
                scale.of(blocked),
                scale.of(backingOff),
                randomIds);
    }
}
