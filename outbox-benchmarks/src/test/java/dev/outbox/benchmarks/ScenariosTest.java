package dev.outbox.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class ScenariosTest {
    @Test
    void allAreThereByTheirNames() {
        assertThat(names())
                .containsExactly(
                        "enqueue-1x1",
                        "enqueue-1x4",
                        "enqueue-1x8",
                        "enqueue-100x1",
                        "enqueue-100x4",
                        "enqueue-keyed",
                        "enqueue-hot-key",
                        "drain-1n",
                        "drain-2n",
                        "ordered-1k-keys",
                        "ordered-hot-key",
                        "ordered-blocked-key",
                        "ordered-backing-off",
                        "latency-50",
                        "latency-1000",
                        "bloat-clean",
                        "bloat-snapshot",
                        "bloat-ordered",
                        "hot-key-clean",
                        "hot-key-snapshot",
                        "growth-0",
                        "growth-1m",
                        "growth-5m",
                        "phases",
                        "rising-phases",
                        "bad-day-keys",
                        "bad-day-keys-batch",
                        "bad-day-poison",
                        "bad-day-route",
                        "bad-day-half",
                        "handler",
                        "slow-4",
                        "slow-32",
                        "inbox",
                        "waiting-keys-0-idle",
                        "waiting-keys-0-latency",
                        "waiting-keys-0-drain",
                        "waiting-keys-1k-idle",
                        "waiting-keys-1k-latency",
                        "waiting-keys-1k-drain",
                        "waiting-keys-200k-idle",
                        "waiting-keys-200k-latency",
                        "waiting-keys-200k-drain",
                        "waiting-keys-1m-idle",
                        "waiting-keys-1m-latency",
                        "waiting-keys-1m-drain",
                        "admin-list",
                        "admin-list-topic",
                        "admin-list-error",
                        "admin-show",
                        "admin-find-key",
                        "admin-find-correlation",
                        "admin-find-tenant",
                        "admin-status",
                        "admin-backlog",
                        "admin-dry-requeue",
                        "admin-dry-discard",
                        "admin-dry-purge",
                        "admin-doctor",
                        "admin-purge");
    }

    @Test
    void theyAreChosenByTheBeginningsOfTheirNames() {
        assertThat(names("drain", "latency-50")).containsExactly("drain-1n", "drain-2n", "latency-50");
    }

    @Test
    void aBeginningThatFitsNoneIsRefused() {
        assertThatThrownBy(() -> names("drain", "drian"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("no scenario begins with \"drian\"; there are [enqueue-1x1, ");
    }

    private static List<String> names(String... beginnings) {
        return Scenarios.beginningWith(List.of(beginnings)).stream()
                .map(Scenario::name)
                .toList();
    }
}
