package dev.outbox.jdbc.internal.catalog;

import dev.outbox.jdbc.Phase;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The line of a table's comment by which the migrations tell its phase, for the columns of phases 1 to 3 are the same.
 *
 * @param since when the table came there, if it says so
 */
public record PhaseMarker(Phase phase, Optional<Instant> since) {
    private static final Pattern LINE = Pattern.compile(
            "^dev\\.outbox (?:inbox )?phase ([0-4](?: settling)?)(?: since (\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z))?$",
            Pattern.MULTILINE);

    /** What this comment tells; empty if it tells nothing of a phase. */
    public static Optional<PhaseMarker> read(@Nullable String comment) {
        Matcher line = LINE.matcher(comment == null ? "" : comment);
        return line.find() ? marker(line.group(1), line.group(2)) : Optional.empty();
    }

    private static Optional<PhaseMarker> marker(String mark, @Nullable String since) {
        return Arrays.stream(Phase.values())
                .filter(phase -> phase.mark().equals(mark))
                .findFirst()
                .map(phase -> new PhaseMarker(phase, Optional.ofNullable(since).map(Instant::parse)));
    }
}
