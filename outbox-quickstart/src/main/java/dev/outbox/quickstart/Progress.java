package dev.outbox.quickstart;

import java.io.Console;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;

/** Shows how far things are: one line drawn again and again on a terminal, a line per second elsewhere. */
final class Progress {
    private static final Duration REDRAW = Duration.ofMillis(200);
    private static final Duration NEXT_LINE = Duration.ofSeconds(1);

    private final PrintStream out;
    private final boolean terminal;
    private final Shop shop;
    private final Broker broker;
    private final long started = System.nanoTime();
    private long lastShown = started;
    private int lastDelivered;

    Progress(PrintStream out, boolean terminal, Shop shop, Broker broker) {
        this.out = out;
        this.terminal = terminal;
        this.shop = shop;
        this.broker = broker;
    }

    /** Before Java 22 there is a console only on a terminal; since Java 22 the console has to be asked. */
    @SuppressWarnings("SystemConsoleNull") // asked below
    static boolean isTerminal() {
        Console console = System.console();
        if (console == null) {
            return false;
        }
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }

    /** Shows a line if enough time has passed since the last one. */
    void show() {
        long sinceLast = System.nanoTime() - lastShown;
        if (sinceLast >= (terminal ? REDRAW : NEXT_LINE).toNanos()) {
            draw(sinceLast);
        }
    }

    /** Shows the last line. */
    void finish() {
        draw(System.nanoTime() - lastShown);
        if (terminal) {
            out.println();
        }
    }

    private void draw(long sinceLast) {
        int delivered = broker.delivered();
        String line = String.format(
                Locale.ROOT,
                "%4.1f s   %,6d orders   %,5d rolled back   %,7d delivered   %,6d/s   %,5d failed calls",
                (System.nanoTime() - started) / 1e9,
                shop.placed(),
                shop.rolledBack(),
                delivered,
                Math.round((delivered - lastDelivered) * 1e9 / sinceLast),
                broker.failedCalls());
        lastDelivered = delivered;
        lastShown = System.nanoTime();
        if (terminal) {
            out.print("\r" + line);
            out.flush();
        } else {
            out.println(line);
        }
    }
}
