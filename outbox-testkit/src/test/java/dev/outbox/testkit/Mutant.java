package dev.outbox.testkit;

import dev.outbox.spi.Source;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * One mistake a source can make.
 *
 * @param mistake what it does wrong
 * @param source the source that does it
 * @param caughtBy the tests of the contract that must fail for it, each of them
 */
record Mutant(String mistake, Function<InMemoryStore, Source> source, List<String> caughtBy) {
    static final String RANDOM = "aRandomHistoryKeepsEveryPromise";

    static Mutant mutant(String mistake, Function<InMemoryStore, Source> source, String... caughtBy) {
        return new Mutant(mistake, source, List.of(caughtBy));
    }

    @Override
    public String toString() {
        return mistake;
    }

    static List<Mutant> all() {
        return Stream.of(
                        BrokenClaims.mutants(),
                        BrokenSettles.mutants(),
                        BrokenKeys.mutants(),
                        BrokenMarks.mutants(),
                        BrokenByteBounds.mutants(),
                        BrokenLocks.mutants())
                .flatMap(List::stream)
                .toList();
    }
}
