package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.Claim;
import dev.outbox.spi.Settlement;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class JudgeTest {
    private static final Instant CREATED = Instant.parse("2026-01-01T00:00:00Z");

    private final PollerOptions options = PollerOptionsTest.options();
    private final Judge judge = new Judge(options);
    private final List<WorkItem> items = IntStream.rangeClosed(1, 3)
            .mapToObj(i -> new WorkItem(
                    "row-" + i, i, 1, CREATED, Message.to("t").key("k").payload("")))
            .toList();
    private final Claim claim = new Claim("token", CREATED.plus(options.maxAge()), items, List.of(), false);
    private final Run run = new Run(items, claim, Long.MAX_VALUE);

    private Verdict judgeFirst(Outcome outcome) {
        WorkItem first = run.begin(0);
        return judge.judge(run, first, outcome, 0);
    }

    @Test
    void aRetryTakesTheRestOfItsRunAlongInTheSameGroup() {
        List<Verdict> group = judge.withRest(judgeFirst(Outcome.retry(new IOException())));

        assertThat(group).extracting(Verdict::item).isEqualTo(items);
        assertThat(group)
                .extracting(verdict -> verdict.settlement().kind())
                .containsExactly(Settlement.Kind.RETRY, Settlement.Kind.RELEASE, Settlement.Kind.RELEASE);
        assertThat(group)
                .extracting(verdict -> verdict.settlement().lease())
                .containsExactlyElementsOf(items.stream().map(claim::lease).toList());
        assertThat(run.begin(0)).as("nothing more of it is delivered").isNull();
    }

    @Test
    void aDoneOrDeadItemLetsItsRunGoOn() {
        assertThat(judge.withRest(judgeFirst(Outcome.done()))).hasSize(1);
        assertThat(judge.withRest(judgeFirst(Outcome.dead(new IOException())))).hasSize(1);
        assertThat(run.begin(0)).isEqualTo(items.get(2));
    }

    @Test
    void aReleaseStopsItsRun() {
        WorkItem first = run.begin(0);

        assertThat(judge.withRest(judge.release(run, first, true)))
                .extracting(verdict -> verdict.settlement().attemptsGivenBack())
                .containsExactly(0, 1, 1);
    }

    @Test
    void theMaximumAgeItselfIsNotTooOld() {
        Outcome later = Outcome.retryAfter(Duration.ofSeconds(1), "throttled");

        assertThat(judgeFirst(later).settlement().kind()).isEqualTo(Settlement.Kind.RETRY);
    }

    @Test
    void nothingIsPutOffPastTheMaximumAge() {
        Outcome muchLater = Outcome.retryAfter(Duration.ofDays(36_500), "closed for a century");

        assertThat(judgeFirst(muchLater).settlement().delay()).isZero(); // it is that old already
    }

    @Test
    void aRunPastItsDeadlineBeginsNothing() {
        Run brief = new Run(items, claim, 100);

        assertThat(brief.begin(99)).isEqualTo(items.get(0));
        assertThat(brief.begin(100)).isNull();
        brief.renewed(200);
        assertThat(brief.begin(100)).isEqualTo(items.get(1));
        brief.lose();
        assertThat(brief.begin(100)).isNull();
    }

    @Test
    void theDeadlineHoldsWhenTheTickerWrapsAround() {
        Run wrapping = new Run(items, claim, Long.MIN_VALUE + 50);

        assertThat(wrapping.begin(Long.MAX_VALUE - 10)).isNotNull();
        assertThat(wrapping.begin(Long.MIN_VALUE + 50)).isNull();
    }
}
