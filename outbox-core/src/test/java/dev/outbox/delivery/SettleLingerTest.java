package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SettleLingerTest {
    private static final int CONCURRENCY = 4;
    private static final long LONGEST = SettleLinger.LONGEST.toNanos();

    private final Verdicts verdicts = new Verdicts(PollerOptionsTest.options());
    private final SettleLinger linger = new SettleLinger(CONCURRENCY);
    private final List<List<Verdict>> queued = new ArrayList<>();

    private static Run run(@Nullable String key, int items) {
        List<WorkItem> all = new ArrayList<>();
        for (int i = 0; i < items; i++) {
            all.add(new WorkItem(
                    "item-" + i, i, 1, Instant.EPOCH, Message.to("t").key(key).payload("")));
        }
        return new Run(all, new TimedClaim(new Claim("token", Instant.EPOCH, all, List.of(), false), 1, 0, 1));
    }

    /** Delivers the next item of the run. */
    private List<Verdict> done(Run run) {
        WorkItem item = run.begin(0);
        return List.of(verdicts.done(run, item, 0));
    }

    @Test
    void itWaitsForMoreWhileOtherDeliveriesAreUnderWay() {
        queued.add(done(run(null, 1)));

        assertThat(linger.left(queued, 2, false, 0)).isEqualTo(LONGEST);
        assertThat(linger.left(queued, 2, false, LONGEST - 1)).isEqualTo(1);
        assertThat(linger.left(queued, 2, false, LONGEST)).isZero();
    }

    @Test
    void itDoesNotWaitIfNothingElseIsUnderWay() {
        assertThat(linger.left(queued, 1, false, 0)).isZero();

        queued.add(done(run(null, 1)));

        assertThat(linger.left(queued, 1, false, 0)).isZero();
    }

    @Test
    void itDoesNotWaitForMoreThanAreWorthIt() {
        queued.addAll(Collections.nCopies(SettleLinger.ENOUGH - 1, done(run(null, 1))));
        assertThat(linger.left(queued, 500, false, 0)).isPositive();

        queued.add(done(run(null, 1)));

        assertThat(linger.left(queued, 500, false, 0)).isZero();
    }

    @Test
    void itDoesNotKeepAKeyThatHasBecomeFree() {
        Run run = run("k", 2);
        queued.add(done(run));
        assertThat(linger.left(queued, 500, false, 0)).isPositive();

        queued.add(done(run));

        assertThat(linger.left(queued, 500, false, 0)).isZero();
    }

    @Test
    void itDoesNotKeepWhatGoesBack() {
        Run run = run(null, 1);
        queued.add(List.of(verdicts.failed(run, run.first(), new IOException("no"), Route.Standing.HEALTHY, 0)));

        assertThat(linger.left(queued, 500, false, 0)).isZero();
    }

    @Test
    void aClaimThatWaitsForRoomIsKeptWaitingOnlyWhileWorkersHaveEnoughToDo() {
        queued.add(done(run(null, 1)));

        assertThat(linger.left(queued, 1 + 2 * CONCURRENCY + 1, true, 0)).isPositive();
        assertThat(linger.left(queued, 1 + 2 * CONCURRENCY, true, 0)).isZero();
    }
}
