package dev.outbox.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SummaryTest {
    private final Results results = new Results();

    @Test
    void theMedianIsTheMiddleRoundOrBetweenTheTwoInTheMiddle() {
        measured("drain-1n", "ours-keep", 300, 100, 200);
        measured("drain-1n", "limit-keep", 400, 100);

        assertThat(results.median("drain-1n", "ours-keep", Measurement::perSecond))
                .isEqualTo(200);
        assertThat(results.median("drain-1n", "limit-keep", Measurement::perSecond))
                .isEqualTo(250);
        assertThat(results.median("drain-1n", "ours-keep", Measurement::p50Millis))
                .isNull();
    }

    @Test
    void ratiosAreThoseOfTheMedians() {
        measured("growth-0", "ours-keep", 100);
        measured("growth-5m", "ours-keep", 90, 80, 10);
        measured("growth-5m", "limit-keep", 160);

        List<String> lines =
                new Summary(scenario("growth-5m"), results).table().lines().toList();

        assertThat(lines.get(0)).endsWith("x limit-keep  x own growth-0");
        assertThat(lines.get(1)).matches("ours-keep +80 +10 +90 .* 0\\.50 +0\\.80");
        assertThat(lines.get(2)).matches("limit-keep +160 +160 +160 .* 1\\.00");
    }

    @Test
    void aSingleContenderIsComparedWithItsBaseAndNotWithItself() {
        measured("waiting-keys-0-drain", "ours-ordered", 100);
        measured("waiting-keys-1m-drain", "ours-ordered", 90);

        List<String> lines = new Summary(scenario("waiting-keys-1m-drain"), results)
                .table()
                .lines()
                .toList();

        assertThat(lines.get(0)).endsWith("WAL bytes  x own waiting-keys-0-drain");
        assertThat(lines.get(1)).matches("ours-ordered +90 +90 +90 +0\\.90");
    }

    @Test
    void aDrainWithASlowLimitIsVoid() {
        measured("drain-1n", "limit-delete", 400);
        measured("drain-1n", "db-scheduler", 100);

        assertThat(new Summary(scenario("drain-1n"), results).objection())
                .isEqualTo("void: limit-delete is only 4.0 times db-scheduler, not 5 times");
    }

    @Test
    void aDrainWithAFastLimitIsNotVoid() {
        measured("drain-1n", "limit-delete", 500);
        measured("drain-1n", "db-scheduler", 100);

        assertThat(new Summary(scenario("drain-1n"), results).objection()).isNull();
    }

    private void measured(String scenario, String contender, double... rates) {
        for (double rate : rates) {
            results.add(
                    new Results.Row(scenario, contender, 1, new Measurement(rate, null, null, null, null, null, null)));
        }
    }

    private static Scenario scenario(String name) {
        return Scenarios.beginningWith(List.of(name)).get(0);
    }
}
