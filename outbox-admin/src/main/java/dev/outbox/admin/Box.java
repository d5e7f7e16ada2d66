package dev.outbox.admin;

/** Which of the two kinds of table. */
public enum Box {
    OUTBOX("outbox"),
    INBOX("inbox");

    private final String word;

    Box(String word) {
        this.word = word;
    }

    /** As in {@code outbox}. */
    @Override
    public String toString() {
        return word;
    }
}
