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
        TextTable table = new TextTable("ERROR")
                .row("bad\u001b[2J\r\nnews\u0007")
                .row("\u009b2J, \u007f, \u202etxt.exe, \u2066x\u2069, a\u2028b");

        assertThat(table.lines().subList(1, 3)).containsExactly("bad [2J  news", " 2J,  ,  txt.exe,  x , a b");
        assertThat(TextTable.printableLines("one\r\n\ttwo \u001b[2J\u009b2J\u202e"))
                .isEqualTo("one\n\ttwo  [2J 2J ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "jdbc:postgresql://h:5432/db?user=a&password=hunter2&ssl=true | jdbc:postgresql://h:5432/db",
                "jdbc:postgresql://a,b:5433/db | jdbc:postgresql://a,b:5433/db",
                "jdbc:postgresql://[::1]:5432/db | jdbc:postgresql://[::1]:5432/db",
                "jdbc:postgresql://u:hun/ter2@h/db | jdbc:postgresql:***",
                "jdbc:postgresql://h/db;password=hunter2 | jdbc:postgresql:***",
                "jdbc:sqlserver://h\\i:1433;user=a;PASSWORD={hun;ter2} | jdbc:sqlserver://h\\i:1433",
                "jdbc:sqlserver://u:hunter2@h;x=y | jdbc:sqlserver:***",
                "postgres://app:hunter2@h/db | postgres:***",
                "hunter2 | ***"
            })
    void ofAnAddressOnlyWhatIsHarmlessIsShown(String url, String shown) {
        assertThat(Secrets.shown(url)).isEqualTo(shown);
    }

    @Test
    void fromASecretOnNothingOfATextIsShown() {
        assertThat(Secrets.masked("cannot parse jdbc:postgresql://h/db?password=hunter2 really"))
                .isEqualTo("cannot parse jdbc:***");
        assertThat(Secrets.masked("unknown option PASSWORD={hun}}t;er2}, really"))
                .isEqualTo("unknown option PASSWORD=***");
        assertThat(Secrets.masked("no host at //app:hun@te/r2@h/db")).isEqualTo("no host at //***@h/db");
        assertThat(Secrets.areIn("jdbc:postgresql://h:5432/db?user=a@b")).isFalse();
        assertThat(Secrets.areIn("jdbc:postgresql://h:5432/password_db?user=a")).isFalse();
    }

    @Test
    void theBarShowsHowFarABackfillIs() {
        assertThat(ProgressBar.line(new BackfillProgress("public.outbox", 450, 550, Duration.ofSeconds(1), "")))
                .isEqualTo("[#############.................]  45%  450 of 1,000 rows  450/s  1s left");
        assertThat(ProgressBar.line(new BackfillProgress("public.outbox", 0, 0, Duration.ZERO, "a standby is behind")))
                .isEqualTo("[##############################] 100%  0 of 0 rows  0/s    waiting: a standby is behind");
    }
}
