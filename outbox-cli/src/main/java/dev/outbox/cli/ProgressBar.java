package dev.outbox.cli;

import dev.outbox.migrations.BackfillProgress;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;

/** How far a backfill is: a bar that is drawn over itself on a terminal, a line now and then elsewhere. */
final class ProgressBar {
    private static final int WIDTH = 30;
    private static final Duration BETWEEN_LINES = Duration.ofSeconds(5);
    private static final String START_OF_LINE = "\r";
    private static final String CLEAR_REST = "\u001b[K";

    private final PrintWriter err;
    private final boolean drawn;
    private final boolean silent;
    private Duration lastLine = Duration.ZERO;

    /** Drawn where errors go: the result on the other stream stays clean. */
    ProgressBar(Environment environment, Output output) {
        this.err = environment.err();
        this.drawn = environment.terminal().isThere()
                && !environment.variable("TERM").equals("dumb");
        this.silent = output.isJson() && !drawn;
    }

    void show(BackfillProgress progress) {
        if (drawn) {
            err.print(START_OF_LINE + line(progress) + CLEAR_REST);
            err.flush();
        } else if (!silent && progress.elapsed().minus(lastLine).compareTo(BETWEEN_LINES) >= 0) {
            lastLine = progress.elapsed();
            err.println(progress);
        }
    }

    /** Leaves what was drawn last, and goes on below. */
    void end() {
        if (drawn) {
            err.println();
        }
    }

    static String line(BackfillProgress progress) {
        long all = progress.done() + progress.remaining();
        double part = all == 0 ? 1 : (double) progress.done() / all;
        int filled = (int) (part * WIDTH);
        long rate = progress.done() * 1_000 / Math.max(1, progress.elapsed().toMillis());
        return String.format(
                Locale.ROOT,
                "[%s%s] %3d%%  %,d of %,d rows  %,d/s  %s%s",
                "#".repeat(filled),
                ".".repeat(WIDTH - filled),
                (int) (part * 100),
                progress.done(),
                all,
                rate,
                left(progress, rate),
                progress.waitingFor().isEmpty() ? "" : "  waiting: " + progress.waitingFor());
    }

    private static String left(BackfillProgress progress, long rate) {
        return rate == 0 ? "" : Durations.text(Duration.ofSeconds(progress.remaining() / rate)) + " left";
    }
}
