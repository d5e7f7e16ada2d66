package dev.outbox.sqlserver;

import dev.outbox.internal.HeadersText;
import dev.outbox.jdbc.internal.sqlserver.NationalText;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Rows on their way to the server: a JSON array of objects that {@code OPENJSON} reads, so many rows as one likes in one
 * round trip, without a table type that somebody would have to install. Texts and bytes are two more parameters, all of
 * them in a row, and the JSON says where each is: so nothing has to be escaped, and no server has to unescape it.
 */
final class JsonRows {
    private final StringBuilder json = new StringBuilder("[");
    private final StringBuilder texts = new StringBuilder();
    private final boolean byCodePoint;
    private int textLength;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int rows;
    private boolean inRow;

    /** @param byCodePoint how the server counts characters: by code point, or by unit of UTF-16 */
    JsonRows(boolean byCodePoint) {
        this.byCodePoint = byCodePoint;
    }

    /** Begins the next row; its field {@code n} is its place, from 0. */
    JsonRows row() {
        end();
        json.append(rows == 0 ? "{" : ",{").append("\"n\":").append(rows++);
        inRow = true;
        return this;
    }

    /** A text, a number or a boolean (as 0 or 1); null is left out. */
    JsonRows set(String name, @Nullable Object value) {
        if (value == null) {
            return this;
        }
        json.append(",\"").append(name).append("\":");
        if (value instanceof Number number) {
            json.append(number);
        } else if (value instanceof Boolean flag) {
            json.append(flag ? 1 : 0);
        } else {
            HeadersText.quote(json, value.toString());
        }
        return this;
    }

    /** Any text goes beside the JSON; the row says where it begins, from 1, and how long it is; null is left out. */
    JsonRows text(String name, @Nullable String value) {
        if (value == null) {
            return this;
        }
        int length = byCodePoint ? value.codePointCount(0, value.length()) : value.length();
        set(name + "_at", textLength + 1).set(name + "_length", length);
        texts.append(value);
        textLength += length;
        return this;
    }

    /** Bytes go beside the text; the row says where they begin, from 1, and how many they are; null is left out. */
    JsonRows bytes(String name, byte @Nullable [] value) {
        if (value == null) {
            return this;
        }
        set(name + "_at", bytes.size() + 1).set(name + "_length", value.length);
        bytes.writeBytes(value);
        return this;
    }

    private void end() {
        if (inRow) {
            json.append('}');
            inRow = false;
        }
    }

    /** The JSON. */
    NationalText json() {
        end();
        return new NationalText(json + "]");
    }

    /** The texts of all rows. */
    NationalText texts() {
        return new NationalText(texts.toString());
    }

    /** The bytes of all rows. */
    byte[] bytes() {
        return bytes.toByteArray();
    }

    /** A plain array of numbers. */
    static NationalText numbers(Integer[] numbers) {
        return new NationalText(new TreeSet<>(List.of(numbers)).toString());
    }

    /** Rows with a field {@code t} each. */
    static NationalText topics(Set<String> topics) {
        JsonRows rows = new JsonRows(false);
        topics.forEach(topic -> rows.row().set("t", topic));
        return rows.json();
    }
}
