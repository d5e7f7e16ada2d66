package dev.outbox.jdbc.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BandSharesTest {
    /** After so many claims every combination has come up as often as it should. */
    private static final int CLAIMS = 20;

    private static int sum(IntUnaryOperator share) {
        return IntStream.range(0, CLAIMS).map(share).sum();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 10, 50, 500})
    void ofAnySizeOfClaimBulkGetsATenthAndNormalAQuarter(int count) {
        int bulk = sum(claims -> BandShares.bulk(count, claims));
        int high = sum(claims -> BandShares.high(count, claims));

        assertThat(bulk).isEqualTo(CLAIMS * count / 10);
        assertThat(high).isEqualTo(CLAIMS * count * 65 / 100);
        assertThat(IntStream.range(0, CLAIMS)).allMatch(claims -> BandShares.high(count, claims) >= 0);
    }

    @Test
    void bulkCountsFirstInOneClaimOfTenAndNormalInOneOfFourAndNeverBoth() {
        assertThat(IntStream.range(0, CLAIMS).filter(BandShares::bulkIsFirst)).hasSize(2);
        assertThat(IntStream.range(0, CLAIMS).filter(BandShares::normalIsFirst)).hasSize(5);
        assertThat(IntStream.range(0, CLAIMS))
                .noneMatch(claims -> BandShares.bulkIsFirst(claims) && BandShares.normalIsFirst(claims));
    }
}
