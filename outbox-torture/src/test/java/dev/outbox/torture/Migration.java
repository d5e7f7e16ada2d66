package dev.outbox.torture;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** Takes the outbox of a turn from the legacy layout to the canonical one, on a thread of its own. */
final class Migration {
    /** How often the children look for the phase. */
    static final Duration REFRESH = Duration.ofSeconds(1);

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Upgrade upgrade;
    private final DataSource dataSource;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "migration");
    private volatile boolean complete;

    Migration(Tables tables, DataSource dataSource) {
        this.upgrade = Upgrade.outbox(tables.outbox()).refreshInterval(REFRESH).quietFor(REFRESH);
        this.dataSource = dataSource;
        thread.start();
    }

    private void run() {
        try {
            for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.CLEAN)) {
                if (!awaitReady(phase)) {
                    return;
                }
                upgrade.apply(dataSource, phase);
                if (phase == Phase.ADDITIVE) {
                    upgrade.backfill().batch(200).run(dataSource);
                }
            }
            complete = true;
        } catch (OutboxException e) {
            System.err.println("the migration failed: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether nothing is in the way any more; after a while without an end it is given up. */
    private boolean awaitReady(Phase phase) throws InterruptedException {
        long start = System.nanoTime();
        while (!upgrade.report(dataSource).obstacles(phase).isEmpty()) {
            if (System.nanoTime() - start > PATIENCE.toNanos() || closed.await(100, TimeUnit.MILLISECONDS)) {
                return false;
            }
        }
        return true;
    }

    boolean isOver() {
        return !thread.isAlive();
    }

    /** Whether the outbox is canonical now. */
    boolean isComplete() {
        return complete;
    }

    void stop() throws InterruptedException {
        closed.countDown();
        thread.join();
    }
}
