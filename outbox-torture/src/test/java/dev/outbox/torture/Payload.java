package dev.outbox.torture;

import java.util.Random;

/** What a message does to its consumer. */
enum Payload {
    FINE,
    /** Fails at its first attempts. */
    FAILS_AT_FIRST,
    /** Asks to be tried later, half of the times. */
    BUSY,
    /** Fails until an operator has mended it. */
    POISON,
    /** Ends the JVM. */
    KILLS;

    /** The exit code of a JVM that died of a message. */
    static final int EXIT_CODE = 98;

    /** The attempts at which a message fails that fails at first. */
    static final int FIRST_ATTEMPTS = 2;

    /** The largest payload that an outbox takes unless it is told otherwise. */
    private static final int HUGE = 1 << 20;

    /** Whether it is delivered sooner or later, without anybody's help. */
    boolean isGood() {
        return this != POISON && this != KILLS;
    }

    /** Its name as a payload that is as long as one can be. */
    String hugeText() {
        return name() + " ".repeat(HUGE - name().length());
    }

    static Payload of(String text) {
        return valueOf(text.strip());
    }

    /** In a storm, four messages of five are poison. */
    static Payload inAStorm(Random random) {
        return random.nextInt(5) == 0 ? FINE : POISON;
    }

    /** With what probability a message is what. */
    static Payload random(Random random, ChildSettings settings, boolean hot) {
        double dice = random.nextDouble();
        if (settings.has(Fault.POISON)) {
            return dice < 0.0003 ? KILLS : dice < 0.01 ? POISON : FINE;
        }
        if (hot && settings.has(Fault.HOT_KEY)) {
            // few failures: each holds back its key until it is retried
            return dice < 0.01 ? POISON : dice < 0.012 ? FAILS_AT_FIRST : dice < 0.03 ? BUSY : FINE;
        }
        return dice < 0.002 ? FAILS_AT_FIRST : FINE;
    }
}
