package dev.outbox.jdbc;

/** The two kinds of table. Their rows are work items of the same shape; an inbox also knows who sent a message. */
public enum TableKind {
    OUTBOX("outbox"),
    INBOX("inbox");

    private final String word;

    TableKind(String word) {
        this.word = word;
    }

    /** In lower case, as errors and commands name it: {@code outbox}. */
    @Override
    public String toString() {
        return word;
    }
}
