package dev.outbox.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.torture.Verdict.Violation;
import java.util.List;
import org.junit.jupiter.api.Test;

class MutantRunTest {
    @Test
    void thereIsAMutantForEveryViolation() {
        assertThat(MutantRun.named("all"))
                .isEqualTo(MutantRun.all())
                .extracting(MutantRun.Mutant::violation)
                .contains(Violation.values());
    }

    @Test
    void mutantsAreChosenByName() {
        assertThat(MutantRun.named("in-subquery-claim, application-clock"))
                .extracting(MutantRun.Mutant::variant)
                .isEqualTo(List.of(InSubqueryClaim.class, Mutants.ApplicationClock.class));
    }

    @Test
    void aNameThatNoMutantHasIsRefused() {
        assertThatThrownBy(() -> MutantRun.named("in-subquery-claim,no-such-thing"))
                .hasMessageStartingWith("there is no mutant \"no-such-thing\"; use all, or some of")
                .hasMessageContaining("no-token-check-on-settle");
    }
}
