package dev.outbox.jdbc.internal.catalog;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The note by which the migrations tell the phase of a table, whose columns are the same in phases 1 to 3: a line of the
 * table's comment on PostgreSQL, an extended property on SQL Server.
 *
 * @param since when the table came to the phase, if the note says so
 */
public record PhaseMarker(TableKind kind, Phase phase, Optional<Instant> since) {
    /** What every marker begins with; on SQL Server the name of the property. */
    public static final String NAME = "dev.outbox";

    private static final Pattern LINE = Pattern.compile(
            "^dev\\.outbox (inbox )?phase ([0-4](?: renaming)?)(?: since (\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z))?$",
            Pattern.MULTILINE);

    /** What this comment says; empty if it says nothing of a phase. */
    public static Optional<PhaseMarker> read(@Nullable String comment) {
        Matcher line = LINE.matcher(comment == null ? "" : comment);
        return line.find()
                ? marker(line.group(1) == null ? TableKind.OUTBOX : TableKind.INBOX, line.group(2), line.group(3))
                : Optional.empty();
    }

    /** The line for a phase, without its time: {@code dev.outbox inbox phase 2}. */
    public static String line(TableKind kind, String phase) {
        return NAME + " " + note(kind, phase);
    }

    /** The same without the name, as the property of SQL Server has it: {@code inbox phase 2}. */
    public static String note(TableKind kind, String phase) {
        return (kind == TableKind.INBOX ? "inbox " : "") + "phase " + phase;
    }

    private static Optional<PhaseMarker> marker(TableKind kind, String mark, @Nullable String since) {
        return Arrays.stream(Phase.values())
                .filter(phase -> phase.mark().equals(mark))
                .findFirst()
                .map(phase ->
                        new PhaseMarker(kind, phase, Optional.ofNullable(since).map(Instant::parse)));
    }
}
