package dev.outbox.benchmarks;

/** The payload of every message: its number, filled up to 300 bytes. */
final class Payload {
    static final int BYTES = 300;

    private static final int DIGITS = 10;
    private static final String FILLING = "x".repeat(BYTES - DIGITS);

    /** The same as an SQL expression of a number {@code n}. */
    static final String SQL = "lpad(n::text, " + DIGITS + ", '0') || repeat('x', " + FILLING.length() + ")";

    private Payload() {}

    static String of(int number) {
        String digits = Integer.toString(number);
        return "0".repeat(DIGITS - digits.length()) + digits + FILLING;
    }

    static int number(String payload) {
        return Integer.parseInt(payload, 0, DIGITS, 10);
    }
}
