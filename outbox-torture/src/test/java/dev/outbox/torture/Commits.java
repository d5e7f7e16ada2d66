package dev.outbox.torture;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * Finds COMMIT in what a client sends: by its text, or by the name under which it was prepared. The driver leaves
 * the white space between several statements in one text.
 */
final class Commits {
    private final Set<String> prepared = new HashSet<>();
    private byte[] rest = {};
    private boolean started;
    private String child;

    /** Whose connection it is, once the first message has said so. */
    String child() {
        return child;
    }

    /** Where in these bytes the message begins that executes a COMMIT; -1 if there is none. */
    int next(byte[] chunk, int count) {
        byte[] all = Arrays.copyOf(rest, rest.length + count);
        System.arraycopy(chunk, 0, all, rest.length, count);
        int found = -1;
        int at = 0;
        while (true) {
            int header = started ? 5 : 4; // the very first message has no type
            if (all.length - at < header) {
                break;
            }
            int length = ByteBuffer.wrap(all, at + header - 4, 4).getInt() + header - 4;
            if (all.length - at < length) {
                break;
            }
            if (!started) {
                child = nameIn(new String(all, at, length, StandardCharsets.ISO_8859_1));
            }
            if (started && executesCommit((char) all[at], all, at + 5, at + length) && found < 0) {
                found = Math.max(0, at - rest.length);
            }
            started = true;
            at += length;
        }
        rest = Arrays.copyOfRange(all, at, all.length);
        return found;
    }

    private static String nameIn(String startup) {
        int from = startup.indexOf(FaultProxy.CHILD);
        return from < 0 ? null : startup.substring(from + FaultProxy.CHILD.length(), startup.indexOf('\0', from));
    }

    private boolean executesCommit(char type, byte[] all, int from, int to) {
        switch (type) {
            case 'Q' -> {
                return isCommit(text(all, from, to));
            }
            case 'P' -> {
                String name = text(all, from, to);
                if (isCommit(text(all, from + name.length() + 1, to))) {
                    prepared.add(name);
                } else {
                    prepared.remove(name);
                }
                return false;
            }
            case 'B' -> {
                String portal = text(all, from, to);
                return prepared.contains(text(all, from + portal.length() + 1, to));
            }
            default -> {
                return false;
            }
        }
    }

    private static boolean isCommit(String sql) {
        return sql.strip().equalsIgnoreCase("COMMIT");
    }

    private static String text(byte[] all, int from, int to) {
        int end = from;
        while (end < to && all[end] != 0) {
            end++;
        }
        return new String(all, from, end - from, StandardCharsets.ISO_8859_1);
    }
}
