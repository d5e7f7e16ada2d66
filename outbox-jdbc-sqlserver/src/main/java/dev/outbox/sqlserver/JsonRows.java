package dev.outbox.sqlserver;

import dev.outbox.internal.HeadersText;
import dev.outbox.jdbc.internal.NationalText;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Rows on their way to the server as one parameter, a JSON array of objects that {@code OPENJSON} reads: so many rows
 * as one likes in one round trip, without a table type that somebody would have to install.
 */
final class JsonRows {
    private final StringBuilder json = new StringBuilder("[");
    private int rows;
    private boolean inRow;

    /** Begins the next row; its field {@code n} is its place, from 0. */
    JsonRows row() {
        end();
        json.append(rows == 0 ? "{" : ",{").append("\"n\":").append(rows++);
        inRow = true;
        return this;
    }

    /** A text, a number, a boolean (as 0 or 1) or bytes (as hexadecimal digits); null is left out. */
    JsonRows set(String name, @Nullable Object value) {
        if (value == null) {
            return this;
        }
        json.append(",\"").append(name).append("\":");
        if (value instanceof Number number) {
            json.append(number);
        } else if (value instanceof Boolean flag) {
            json.append(flag ? 1 : 0);
        } else if (value instanceof byte[] bytes) {
            json.append('"').append(HexFormat.of().formatHex(bytes)).append('"');
        } else {
            HeadersText.quote(json, value.toString());
        }
        return this;
    }

    private void end() {
        if (inRow) {
            json.append('}');
            inRow = false;
        }
    }

    NationalText text() {
        end();
        return new NationalText(json + "]");
    }

    /** A plain array of numbers. */
    static NationalText numbers(Integer[] numbers) {
        return new NationalText(new TreeSet<>(List.of(numbers)).toString());
    }

    /** Rows with a field {@code t} each. */
    static NationalText topics(Set<String> topics) {
        JsonRows rows = new JsonRows();
        topics.forEach(topic -> rows.row().set("t", topic));
        return rows.text();
    }
}
