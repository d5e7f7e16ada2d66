package dev.outbox.jdbc.internal.sql;

/**
 * A 64-bit hash of a text, for the names of locks. {@link String#hashCode()} is no name: many short texts share theirs,
 * {@code Aa} and {@code BB} for instance. Nodes that lock the same thing must agree on it: never change it in a rolling
 * upgrade.
 */
public final class Hash {
    private Hash() {}

    /** FNV-1a over the characters, then the last step of MurmurHash3, so that every bit depends on all of the text. */
    public static long of(String text) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
        }
        hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
        hash = (hash ^ hash >>> 33) * 0xc4ceb9fe1a85ec53L;
        return hash ^ hash >>> 33;
    }
}
