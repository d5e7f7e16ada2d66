package dev.outbox.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Rows in columns that are as wide as they need to be. */
final class TextTable {
    /** Wider values are cut, except in the last column. The name of an item fits. */
    private static final int WIDEST = 45;

    /** Control characters of both sets, those that set the direction of text, and separators of lines. */
    private static final String CONTROLS = "\\p{Cc}\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069";

    private static final Pattern STEERING = Pattern.compile("[" + CONTROLS + "]");
    private static final Pattern STEERING_BUT_LINES = Pattern.compile("[" + CONTROLS + "&&[^\n\t]]");

    private final List<List<String>> rows = new ArrayList<>();
    private final int columns;

    TextTable(String... headings) {
        this.columns = headings.length;
        rows.add(List.of(headings));
    }

    /** Nulls are empty cells. */
    TextTable row(@Nullable Object... cells) {
        if (cells.length != columns) {
            throw new IllegalArgumentException(columns + " cells expected, were " + cells.length);
        }
        List<String> row = new ArrayList<>();
        for (int i = 0; i < cells.length; i++) {
            Object cell = cells[i];
            String text = cell == null ? "" : printable(cell.toString());
            row.add(i < columns - 1 && text.length() > WIDEST ? text.substring(0, WIDEST - 3) + "..." : text);
        }
        rows.add(row);
        return this;
    }

    boolean isEmpty() {
        return rows.size() == 1;
    }

    /** Text from a table of the application must not control the terminal, nor change the direction of its text. */
    static String printable(String text) {
        return STEERING.matcher(text).replaceAll(" ");
    }

    /** {@link #printable}, with its lines and tabs. */
    static String printableLines(String text) {
        return STEERING_BUT_LINES.matcher(text.replace("\r\n", "\n")).replaceAll(" ");
    }

    List<String> lines() {
        int[] widths = new int[columns];
        rows.forEach(row -> {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        });
        return rows.stream().map(row -> line(row, widths)).toList();
    }

    private static String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String cell = row.get(i);
            line.append(cell).append(" ".repeat(widths[i] - cell.length() + 2));
        }
        return line.toString().stripTrailing();
    }
}
