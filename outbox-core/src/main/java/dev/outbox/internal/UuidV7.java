package dev.outbox.internal;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Time-ordered UUIDs (RFC 9562, version 7): new rows land on the right edge of the primary key.
 *
 * <p>The 12 bits after the millisecond are a counter, so ids of one JVM never go backwards, not even
 * when the clock does. Thread-safe.
 */
public final class UuidV7 {
    private static final int RANDOM_BLOCK = 4096;
    private static final ThreadLocal<RandomBits> RANDOM = ThreadLocal.withInitial(RandomBits::new);

    /** Milliseconds and counter of the last id, as one number that only grows. */
    private static final AtomicLong LAST = new AtomicLong();

    private UuidV7() {}

    public static UUID next() {
        long now = System.currentTimeMillis() << 12;
        long tick = LAST.updateAndGet(last -> Math.max(last + 1, now));
        long high = (tick >>> 12 << 16) | 0x7000L | (tick & 0xFFF);
        return new UUID(high, variant(RANDOM.get().next()));
    }

    /** The same text always gives the same UUID (version 8: the first bits of its SHA-256). */
    public static UUID ofName(String name) {
        ByteBuffer hash = ByteBuffer.wrap(sha256().digest(name.getBytes(StandardCharsets.UTF_8)));
        long high = (hash.getLong() & ~0xF000L) | 0x8000L;
        return new UUID(high, variant(hash.getLong()));
    }

    private static long variant(long low) {
        return (low & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Secure random numbers drawn in blocks: one draw per id would cost more than all the rest. */
    private static final class RandomBits {
        private final SecureRandom random = new SecureRandom();
        private final byte[] bytes = new byte[RANDOM_BLOCK];
        private final ByteBuffer buffer = ByteBuffer.wrap(bytes).position(RANDOM_BLOCK);

        long next() {
            if (!buffer.hasRemaining()) {
                random.nextBytes(bytes);
                buffer.rewind();
            }
            return buffer.getLong();
        }
    }
}
