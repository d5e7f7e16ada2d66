package dev.outbox.internal;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Headers as the text of a flat JSON object of strings, so that people and SQL can read the column.
 *
 * <p>The core has no JSON library, and needs none for this: {@link #write} produces plain JSON and
 * {@link #read} accepts any JSON object whose values are strings, or null (left out).
 */
public final class HeadersText {
    private final String text;
    private int at;

    private HeadersText(String text) {
        this.text = text;
    }

    /** Null for no headers: an empty column is cheaper than an empty object. */
    public static @Nullable String write(Map<String, String> headers) {
        if (headers.isEmpty()) {
            return null;
        }
        StringBuilder json = new StringBuilder(headers.size() * 32).append('{');
        headers.forEach((name, value) -> {
            if (json.length() > 1) {
                json.append(',');
            }
            quote(json, name);
            json.append(':');
            quote(json, value);
        });
        return json.append('}').toString();
    }

    /** Headers in the order of the text; unmodifiable. */
    public static Map<String, String> read(@Nullable String text) {
        return text == null || text.isBlank() ? Map.of() : new HeadersText(text).object();
    }

    /** Appends the value as a JSON string. */
    public static void quote(StringBuilder json, String value) {
        json.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"' -> json.append("\\\"");
                case '\\' -> json.append("\\\\");
                case '\n' -> json.append("\\n");
                case '\r' -> json.append("\\r");
                case '\t' -> json.append("\\t");
                default -> {
                    if (c < 0x20 || Character.isSurrogate(c)) {
                        json.append("\\u").append(Character.forDigit(c >> 12, 16));
                        json.append(Character.forDigit(c >> 8 & 0xF, 16));
                        json.append(Character.forDigit(c >> 4 & 0xF, 16));
                        json.append(Character.forDigit(c & 0xF, 16));
                    } else {
                        json.append(c);
                    }
                }
            }
        }
        json.append('"');
    }

    private Map<String, String> object() {
        Map<String, String> headers = new LinkedHashMap<>();
        expect('{');
        if (peek() != '}') {
            do {
                String name = string();
                expect(':');
                if (peek() == 'n') {
                    literal("null");
                } else {
                    headers.put(name, string());
                }
            } while (comma());
        }
        expect('}');
        skipBlanks();
        if (at != text.length()) {
            throw malformed("the end of the text");
        }
        return Collections.unmodifiableMap(headers);
    }

    private boolean comma() {
        if (peek() != ',') {
            return false;
        }
        at++;
        return true;
    }

    private String string() {
        expect('"');
        StringBuilder value = new StringBuilder();
        while (true) {
            char c = next();
            if (c == '"') {
                return value.toString();
            }
            value.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() {
        char c = next();
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unicode();
            default -> throw malformed("an escape");
        };
    }

    private char unicode() {
        int code = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit(next(), 16);
            if (digit < 0) {
                throw malformed("a hexadecimal digit");
            }
            code = code << 4 | digit;
        }
        return (char) code;
    }

    private void literal(String word) {
        if (!text.startsWith(word, at)) {
            throw malformed("a string");
        }
        at += word.length();
    }

    private void expect(char c) {
        if (peek() != c) {
            throw malformed("'" + c + "'");
        }
        at++;
    }

    private char peek() {
        skipBlanks();
        if (at == text.length()) {
            throw malformed("more text");
        }
        return text.charAt(at);
    }

    private char next() {
        if (at == text.length()) {
            throw malformed("more text");
        }
        return text.charAt(at++);
    }

    private void skipBlanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    /** Says where, never what: headers may hold secrets. */
    private IllegalArgumentException malformed(String expected) {
        return new IllegalArgumentException(
                "headers are not a flat JSON object of strings: expected " + expected + " at position " + at);
    }
}
