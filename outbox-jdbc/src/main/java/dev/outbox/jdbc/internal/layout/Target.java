package dev.outbox.jdbc.internal.layout;

/**
 * A column that the values of a logical column are written to. While a table is on its way from the old columns to the new
 * ones, a logical column may have two of them.
 *
 * @param column quoted
 * @param value what is written, with {@code %s} in each place of the value
 */
public record Target(String column, String value) {
    /** One that takes the value as it is. */
    public Target(String column) {
        this(column, "%s");
    }

    String of(String written) {
        return value.replace("%s", written);
    }
}
