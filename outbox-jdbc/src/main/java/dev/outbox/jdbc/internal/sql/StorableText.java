package dev.outbox.jdbc.internal.sql;

import org.jspecify.annotations.Nullable;

/** Text that a database can store and give back unchanged. */
public final class StorableText {
    private StorableText() {}

    /**
     * Refuses U+0000, which PostgreSQL cannot store, and unpaired surrogates, which no encoding keeps.
     *
     * @return the length in UTF-8 bytes; 0 for null
     */
    public static int check(String name, @Nullable String text) {
        if (text == null) {
            return 0;
        }
        int bytes = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 0) {
                throw new IllegalArgumentException(name + " contains U+0000 at position " + i
                        + ", which text columns cannot store; remove it, or send the payload as bytes");
            }
            if (c < 0x80) {
                bytes++;
            } else if (c < 0x800) {
                bytes += 2;
            } else if (!Character.isSurrogate(c)) {
                bytes += 3;
            } else if (Character.isHighSurrogate(c)
                    && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1))) {
                bytes += 4;
                i++;
            } else {
                throw new IllegalArgumentException(name + " contains an unpaired surrogate at position " + i
                        + ", which is not a character; remove it, or send the payload as bytes");
            }
        }
        return bytes;
    }

    /** Texts of errors come from anywhere: what cannot be stored is replaced. */
    public static String wellFormed(String text) {
        if (text.chars().noneMatch(c -> c == 0 || Character.isSurrogate((char) c))) {
            return text; // mostly
        }
        StringBuilder good = new StringBuilder(text.length());
        text.codePoints()
                .map(c -> c == 0 || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) ? 0xFFFD : c)
                .forEach(good::appendCodePoint);
        return good.toString();
    }
}
