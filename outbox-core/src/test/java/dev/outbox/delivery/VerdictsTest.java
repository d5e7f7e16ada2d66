package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.PermanentFailureException;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Settlement;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class VerdictsTest {
    private static final Instant CREATED = Instant.parse("2030-01-01T00:00:00Z");
    private static final IOException FAILURE = new IOException("no");
    private static final Route.Standing ACCEPTS_NOTHING = new Route.Standing(false, Duration.ZERO, false);

    private final PollerOptions options = PollerOptionsTest.options();
    private final Verdicts verdicts = new Verdicts(options);

    private static WorkItem item(int number, int attempt, Instant firstDueOn) {
        return new WorkItem(
                "item-" + number,
                number,
                attempt,
                CREATED,
                firstDueOn,
                null,
                Message.to("t").key("k").payload(""));
    }

    private static Run run(Instant claimedAt, WorkItem... items) {
        Claim claim = new Claim("token", claimedAt, List.of(items), List.of(), false);
        return new Run(List.of(items), new TimedClaim(claim, 1, 0, 1));
    }

    private Settlement failedOn(int attempt, Route.Standing standing) {
        WorkItem item = item(1, attempt, CREATED);
        return verdicts.failed(run(CREATED, item), item, FAILURE, standing, 0).settlement();
    }

    @Test
    void aFailureCountsAndTheLastAttemptKills() {
        assertThat(failedOn(9, Route.Standing.HEALTHY).kind()).isEqualTo(Settlement.Kind.RETRY);
        assertThat(failedOn(9, Route.Standing.HEALTHY).attemptsGivenBack()).isZero();
        assertThat(failedOn(10, Route.Standing.HEALTHY).kind()).isEqualTo(Settlement.Kind.DEAD);
    }

    @Test
    void onARouteThatAcceptsNothingTheLastAttemptGivesHalfOfThemBack() {
        assertThat(failedOn(9, ACCEPTS_NOTHING).attemptsGivenBack()).isZero();

        Settlement last = failedOn(10, ACCEPTS_NOTHING);

        assertThat(last.kind()).isEqualTo(Settlement.Kind.RETRY);
        assertThat(last.attemptsGivenBack()).isEqualTo(5);
        assertThat(last.error()).startsWith("the destination accepts nothing: java.io.IOException");
        assertThat(failedOn(11, ACCEPTS_NOTHING).attemptsGivenBack())
                .as("rounded up")
                .isEqualTo(6);
    }

    @Test
    void whileCallsAreRareNoDelayIsLongerThanThePause() {
        Duration pause = Duration.ofNanos(1);

        assertThat(failedOn(8, new Route.Standing(false, pause, false)).delay()).isLessThanOrEqualTo(pause);
        WorkItem item = item(1, 8, CREATED);
        assertThat(verdicts.excused(run(CREATED, item), item, FAILURE, pause, 0)
                        .settlement()
                        .delay())
                .isLessThanOrEqualTo(pause);
    }

    @Test
    void theAgeCountsFromWhenAnItemWasFirstDueAndNotFromWhenItWasStored() {
        WorkItem scheduled = item(1, 1, CREATED.plus(Duration.ofDays(8)));
        Instant dueNow = scheduled.firstDueOn();

        assertThat(verdicts.excused(run(dueNow, scheduled), scheduled, FAILURE, Duration.ZERO, 0)
                        .settlement()
                        .kind())
                .isEqualTo(Settlement.Kind.RETRY);
    }

    @Test
    void theMaximumAgeEndsWhatIsPutOffWithoutCounting() {
        WorkItem item = item(1, 10, CREATED);
        Run just = run(CREATED.plus(options.maxAge()), item);
        Run tooOld = run(CREATED.plus(options.maxAge()).plusNanos(1), item);
        RetryAfterException asked = new RetryAfterException(Duration.ofDays(30), "closed");

        assertThat(verdicts.retryAfter(just, item, asked, 0).settlement().delay())
                .as("not past the maximum age")
                .isZero();
        for (Verdict dead : List.of(
                verdicts.retryAfter(tooOld, item, asked, 0),
                verdicts.excused(tooOld, item, FAILURE, Duration.ZERO, 0),
                verdicts.failed(tooOld, item, FAILURE, ACCEPTS_NOTHING, 0))) {
            assertThat(dead.settlement().kind()).isEqualTo(Settlement.Kind.DEAD);
            assertThat(dead.settlement().error()).startsWith("older than the maximum age of PT3S: ");
        }
    }

    @Test
    void whatHoldsBackItsKeyTakesTheRestOfItsRunAlong() {
        WorkItem first = item(1, 1, CREATED);
        Run run = run(CREATED, first, item(2, 1, CREATED), item(3, 1, CREATED));
        run.begin(0);

        List<Verdict> group = verdicts.withRest(verdicts.failed(run, first, FAILURE, Route.Standing.HEALTHY, 0));

        assertThat(group)
                .extracting(verdict -> verdict.settlement().kind())
                .containsExactly(Settlement.Kind.RETRY, Settlement.Kind.RELEASE, Settlement.Kind.RELEASE);
        assertThat(group)
                .extracting(verdict -> verdict.settlement().attemptsGivenBack())
                .containsExactly(0, 1, 1);
        assertThat(run.begin(0)).as("nothing more of it is begun").isNull();
    }

    @Test
    void aDoneItemLetsItsRunGoOn() {
        WorkItem first = item(1, 1, CREATED);
        Run run = run(CREATED, first, item(2, 1, CREATED));
        run.begin(0);

        assertThat(verdicts.withRest(verdicts.done(run, first, 0))).hasSize(1);
        assertThat(run.begin(0)).isNotNull();
    }

    @Test
    void putOffKeepsTheLastErrorAndCountsNoAttempt() {
        WorkItem item = item(1, 3, CREATED);

        Settlement putOff = verdicts.putOff(run(CREATED, item), item, Duration.ofSeconds(5))
                .get(0)
                .settlement();

        assertThat(putOff.error()).isNull();
        assertThat(putOff.attemptsGivenBack()).isOne();
        assertThat(putOff.delay()).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void exceptionsSayWhatTheyMean() {
        assertThat(Verdicts.outcome(new PermanentFailureException("no"))).isInstanceOf(Outcome.Dead.class);
        assertThat(Verdicts.outcome(new DestinationUnavailableException("down")))
                .isInstanceOf(Outcome.Unavailable.class);
        assertThat(Verdicts.outcome(FAILURE)).isEqualTo(Outcome.retry(FAILURE));
    }
}
