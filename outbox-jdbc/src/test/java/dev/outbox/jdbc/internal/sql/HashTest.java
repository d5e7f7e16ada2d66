package dev.outbox.jdbc.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HashTest {
    @Test
    void textsWithTheSameHashCodeDiffer() {
        assertThat("customer-Aa".hashCode()).isEqualTo("customer-BB".hashCode());
        assertThat(Hash.of("customer-Aa")).isNotEqualTo(Hash.of("customer-BB"));
    }

    @Test
    void aHundredThousandTextsHaveAsManyHashesInEitherHalf() {
        Set<Long> hashes =
                IntStream.range(0, 100_000).mapToObj(i -> Hash.of("key-" + i)).collect(Collectors.toSet());

        assertThat(hashes).hasSize(100_000);
        assertThat(hashes.stream().map(Long::intValue).distinct().count()).isGreaterThan(99_900);
        assertThat(hashes.stream().map(hash -> hash >> 32).distinct().count()).isGreaterThan(99_900);
    }

    @Test
    void nodesOfEveryVersionAgreeOnIt() {
        assertThat(Hash.of("public.outbox key customer-1")).isEqualTo(0xc19b135af2739386L);
    }
}
