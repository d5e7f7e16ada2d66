package dev.outbox.benchmarks;

import java.util.List;
import java.util.stream.Collectors;

/** Lines of cells as text; the first column is flush left, the others right. */
final class TextTable {
    private TextTable() {}

    static String of(List<List<String>> lines) {
        int columns = lines.get(0).size();
        int[] widths = new int[columns];
        for (List<String> line : lines) {
            for (int column = 0; column < columns; column++) {
                widths[column] = Math.max(widths[column], line.get(column).length());
            }
        }
        return lines.stream().map(line -> line(line, widths)).collect(Collectors.joining(System.lineSeparator()));
    }

    private static String line(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < widths.length; column++) {
            String blanks = " ".repeat(widths[column] - cells.get(column).length());
            line.append(column == 0 ? cells.get(column) + blanks : "  " + blanks + cells.get(column));
        }
        return line.toString().stripTrailing();
    }
}
