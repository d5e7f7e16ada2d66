package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.migrations.BackfillProgress;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How things look. */
class TextTest {
    @ParameterizedTest
    @CsvSource({
        "90s, 1m 30s",
        "15m, 15m",
        "2h, 2h",
        "PT26H5M, 1d 2h",
        "7d, 7d",
        "250ms, 250ms",
        "PT9.5S, 9s 500ms",
        "PT59.9S, 59s"
    })
    void lengthsOfTimeAreReadAndWrittenAsPeopleDo(String read, String written) {
        assertThat(Durations.text(new Durations().convert(read))).isEqualTo(written);
    }

    @Test
    void columnsAreAsWideAsTheyNeedToBeAndOnlyTheLastIsNeverCut() {
        TextTable table = new TextTable("A", "LONGER", "LAST").row("1", null, "x".repeat(100));
        table.row("y".repeat(50), 2, "z");

        assertThat(table.lines())
                .containsExactly(
                        "A" + " ".repeat(46) + "LONGER  LAST",
                        "1" + " ".repeat(46) + "        " + "x".repeat(100),
                        "y".repeat(42) + "...  2       z");
    }

    @Test
    void whatComesFromATableCannotSteerTheTerminal() {
        TextTable table = new TextTable("ERROR").row("bad\u001b[2J\r\nnews\u0007");

        assertThat(table.lines().get(1)).isEqualTo("bad [2J  news");
    }

    @Test
    void aPasswordIsMaskedWhereverItStands() {
        assertThat(Secrets.masked("cannot parse jdbc:postgresql://h/db?user=a&password=hunter2&ssl=true"))
                .isEqualTo("cannot parse jdbc:postgresql://h/db?user=a&password=***&ssl=true");
        assertThat(Secrets.masked("jdbc:sqlserver://h;user=a;PASSWORD={hun;ter2};encrypt=true"))
                .isEqualTo("jdbc:sqlserver://h;user=a;PASSWORD=***;encrypt=true");
        assertThat(Secrets.masked("postgres://app:hunter2@h/db")).isEqualTo("postgres://app:***@h/db");
        assertThat(Secrets.areIn("jdbc:postgresql://h:5432/db?user=a")).isFalse();
    }

    @Test
    void theBarShowsHowFarABackfillIs() {
        assertThat(ProgressBar.line(new BackfillProgress("public.outbox", 450, 550, Duration.ofSeconds(1), "")))
                .isEqualTo("[#############.................]  45%  450 of 1,000 rows  450/s  1s left");
        assertThat(ProgressBar.line(new BackfillProgress("public.outbox", 0, 0, Duration.ZERO, "a standby is behind")))
                .isEqualTo("[##############################] 100%  0 of 0 rows  0/s    waiting: a standby is behind");
    }
}
