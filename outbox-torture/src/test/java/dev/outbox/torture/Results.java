package dev.outbox.torture;

import dev.outbox.torture.Verdict.Violation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The turns so far, summed up by fault. */
final class Results {
    private static final List<String> COLUMNS = List.of(
            "fault",
            "injected",
            "messages",
            "lost",
            "duplicated",
            "inverted",
            "stuck",
            "fenced",
            "late",
            "recovery_ms");

    private final Map<Fault, Row> rows = new EnumMap<>(Fault.class);
    private int kills;

    /** Sums, and of the recovery the longest. */
    private static final class Row {
        private final Map<Violation, Integer> violations = new EnumMap<>(Violation.class);
        private long injected;
        private long messages;
        private long recoveryMillis;

        List<String> cells(Fault fault) {
            List<String> cells = new ArrayList<>(List.of(fault.toString(), "" + injected, "" + messages));
            for (Violation violation : Violation.values()) {
                cells.add("" + violations.getOrDefault(violation, 0));
            }
            cells.add("" + recoveryMillis);
            return cells;
        }
    }

    private Row row(Fault fault) {
        return rows.computeIfAbsent(fault, f -> new Row());
    }

    /** @param fault the one that the turn was about */
    void add(Fault fault, Turn.Result result) {
        Row row = row(fault);
        row.messages += result.verdict().messages();
        row.recoveryMillis = Math.max(row.recoveryMillis, result.recovery().toMillis());
        for (Violation violation : Violation.values()) {
            row.violations.merge(violation, result.verdict().count(violation), Integer::sum);
        }
        result.injected().forEach((injected, times) -> row(injected).injected += times);
        kills += result.kills();
    }

    /** A fault that never happened has shown nothing. */
    boolean isClean() {
        return rows.values().stream()
                .allMatch(row ->
                        row.injected > 0 && row.violations.values().stream().allMatch(count -> count == 0));
    }

    String summary() {
        long messages = rows.values().stream().mapToLong(row -> row.messages).sum();
        return messages + " messages, " + kills + " kills, "
                + (isClean() ? "0 violations" : "VIOLATIONS, or faults that never happened");
    }

    private List<List<String>> lines() {
        List<List<String>> lines = new ArrayList<>(List.of(COLUMNS));
        rows.forEach((fault, row) -> lines.add(row.cells(fault)));
        return lines;
    }

    String table() {
        return lines().stream()
                .map(cells -> "%-22s".formatted(cells.get(0))
                        + cells.stream().skip(1).map("%12s"::formatted).collect(Collectors.joining())
                        + "\n")
                .collect(Collectors.joining());
    }

    void write(Path csv) {
        try {
            Files.write(
                    csv, lines().stream().map(cells -> String.join(",", cells)).toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
