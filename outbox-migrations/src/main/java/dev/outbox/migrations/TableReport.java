package dev.outbox.migrations;

import dev.outbox.jdbc.Phase;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Where a table is on its way, and what was found about it.
 *
 * @param table with its schema
 * @param phase where it is
 * @param since when it came there, if that is known
 * @param next the phase it can go to next; the phase it is in if that is the last
 * @param findings what is wrong, or in the way
 */
public record TableReport(String table, Phase phase, Optional<Instant> since, Phase next, List<Finding> findings) {
    public TableReport {
        findings = List.copyOf(findings);
    }

    /** What is wrong in the phase it is in; empty if an application can work with it. */
    public List<Finding> problems() {
        return findings.stream().filter(Finding::wrong).toList();
    }

    /** What is in the way to this phase. */
    public List<Finding> obstacles(Phase phase) {
        return findings.stream()
                .filter(finding -> finding.blocks().contains(phase))
                .toList();
    }

    /** For people: the phase, and a line for each finding. */
    @Override
    public String toString() {
        return table + ": " + phase + since.map(instant -> " since " + instant).orElse("")
                + findings.stream()
                        .map(finding -> "\n  " + (finding.wrong() ? "wrong: " : "") + finding.text()
                                + (finding.blocks().isEmpty()
                                        ? ""
                                        : " [blocks "
                                                + finding.blocks().stream()
                                                        .sorted()
                                                        .map(Phase::toString)
                                                        .collect(Collectors.joining(", "))
                                                + "]"))
                        .collect(Collectors.joining());
    }
}
