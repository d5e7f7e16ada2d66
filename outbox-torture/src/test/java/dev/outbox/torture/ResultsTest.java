package dev.outbox.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.torture.Verdict.Violation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsTest {
    private final Results results = new Results();

    private static Turn.Result turn(Verdict verdict, Map<Fault, Integer> injected, int recoveryMillis) {
        verdict.messages(100);
        return new Turn.Result(injected, 2, 100, 1, Duration.ofMillis(recoveryMillis), verdict);
    }

    @Test
    void aFaultHasTheSumsOfItsTurnsAndTheLongestRecovery(@TempDir Path directory) throws IOException {
        Verdict broken = new Verdict();
        broken.add(Violation.LOST, "one");
        broken.add(Violation.LOST, "another");
        broken.add(Violation.FENCED, "a third");
        results.add(Fault.RESET, turn(broken, Map.of(Fault.RESET, 3), 70));
        results.add(Fault.RESET, turn(new Verdict(), Map.of(Fault.RESET, 1, Fault.KILL, 5), 30));
        results.write(directory.resolve("torture.csv"));

        assertThat(Files.readAllLines(directory.resolve("torture.csv")))
                .containsExactly(
                        "fault,injected,messages,lost,duplicated,inverted,stuck,fenced,late,recovery_ms",
                        "kill,5,0,0,0,0,0,0,0,0",
                        "reset,4,200,2,0,0,0,1,0,70");
        assertThat(results.isClean()).isFalse();
        assertThat(results.summary()).contains("200 messages, 4 kills", "VIOLATIONS");
    }

    @Test
    void aTurnWithoutViolationsIsCleanIfItsFaultHappened() {
        results.add(Fault.RESET, turn(new Verdict(), Map.of(Fault.RESET, 1), 0));
        assertThat(results.isClean()).isTrue();

        results.add(Fault.PAUSE, turn(new Verdict(), Map.of(), 0));
        assertThat(results.isClean()).isFalse();
    }
}
