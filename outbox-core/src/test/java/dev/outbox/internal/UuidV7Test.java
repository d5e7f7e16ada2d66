package dev.outbox.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class UuidV7Test {
    @Test
    void itHasTheVersionTheVariantAndTheTimeOfRfc9562() {
        long before = System.currentTimeMillis();

        UUID id = UuidV7.next();

        assertThat(id.version()).isEqualTo(7);
        assertThat(id.variant()).isEqualTo(2);
        // other tests of this JVM may have pushed the counter a little ahead of the clock
        assertThat(id.getMostSignificantBits() >>> 16).isBetween(before, System.currentTimeMillis() + 60_000);
    }

    @Test
    void idsOfSeveralThreadsAreUniqueAndNeverGoBackwards() throws Exception {
        int threads = 4;
        Callable<List<UUID>> draw =
                () -> Stream.generate(UuidV7::next).limit(25_000).toList();
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        List<UUID> all = new ArrayList<>();
        try {
            List<Future<List<UUID>>> drawn = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                drawn.add(executor.submit(draw));
            }
            for (Future<List<UUID>> future : drawn) {
                List<UUID> ids = future.get();
                assertThat(ids.stream().map(UUID::getMostSignificantBits).toList())
                        .isSorted()
                        .doesNotHaveDuplicates();
                assertThat(ids.stream().map(UUID::toString).toList()).isSorted();
                all.addAll(ids);
            }
        } finally {
            executor.shutdown();
        }

        Set<Long> ticks = new HashSet<>();
        all.forEach(id -> ticks.add(id.getMostSignificantBits()));
        assertThat(ticks).as("even without their random part").hasSize(threads * 25_000);
        assertThat(all).allMatch(id -> id.version() == 7 && id.variant() == 2);
    }

    @Test
    void anIdDrawnLaterIsGreaterWhicheverThreadDrewIt() throws Exception {
        UUID first = UuidV7.next();
        UUID[] second = new UUID[1];
        Thread other = new Thread(() -> second[0] = UuidV7.next());
        other.start();
        other.join();

        assertThat(second[0].toString()).isGreaterThan(first.toString());
        assertThat(UuidV7.next().toString()).isGreaterThan(second[0].toString());
    }

    @Test
    void theIdOfANameIsAlwaysTheSame() {
        assertThat(UuidV7.ofName("orders")).hasToString("1c168adb-00d2-88e4-af93-314529f1fa9c");
        assertThat(UuidV7.ofName("orders")).isEqualTo(UuidV7.ofName("orders"));
        assertThat(UuidV7.ofName("orders")).isNotEqualTo(UuidV7.ofName("Orders"));
        assertThat(UuidV7.ofName("orders").version()).isEqualTo(8);
        assertThat(UuidV7.ofName("orders").variant()).isEqualTo(2);
        assertThat(UuidV7.ofName("").version()).isEqualTo(8);
    }
}
