package dev.outbox.migrations.internal;

/** Texts as they stand in a statement of any database. */
public final class Literal {
    private Literal() {}

    /** {@code 'it''s'}. */
    public static String text(String value) {
        return "'" + value.replace("'", "''") + "'";
    }

    /** With all its characters on SQL Server, where a text without the prefix has those of a code page: {@code N'it''s'}. */
    public static String national(String value) {
        return "N" + text(value);
    }
}
