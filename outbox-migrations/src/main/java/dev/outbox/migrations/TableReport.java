package dev.outbox.migrations;

import dev.outbox.jdbc.Phase;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The phase of a table, and what was found about it.
 *
 * @param table its name, with its schema
 * @param phase the phase it is in
 * @param since when it reached this phase, if that is known
 * @param next the phase after it; the current phase if that is the last one
 * @param findings what is wrong, or prevents a phase
 */
public record TableReport(String table, Phase phase, Optional<Instant> since, Phase next, List<Finding> findings) {
    public TableReport {
        findings = List.copyOf(findings);
    }

    /** The findings that are wrong in the current phase; empty if applications can use the table. */
    public List<Finding> problems() {
        return findings.stream().filter(Finding::wrong).toList();
    }

    /** The findings that prevent this phase. */
    public List<Finding> obstacles(Phase phase) {
        return findings.stream()
                .filter(finding -> finding.blocks().contains(phase))
                .toList();
    }

    /** The report for people: the phase, and a line for each finding. */
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
