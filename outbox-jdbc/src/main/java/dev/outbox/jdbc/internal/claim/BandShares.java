package dev.outbox.jdbc.internal.claim;

import dev.outbox.jdbc.internal.sql.Query;
import java.sql.SQLException;

/**
 * How the bands of priority share a claim of rows without a key. While each band has rows, bulk gets a tenth of the claim,
 * normal a quarter, and urgent the rest. What a band leaves goes to the others, urgent first and bulk last. A claim for few
 * rows cannot be divided: there a band gets its share over several claims.
 *
 * <p>If the bytes do not suffice for all rows that are picked, urgent rows count first, then normal ones, then bulk.
 * Large rows of one band could leave no room for another one in every claim. So bulk counts first in one claim of ten,
 * and normal in one of four; never both in the same claim.
 */
final class BandShares {
    private BandShares() {}

    /** @param claims how many claims there were before */
    static Query set(Query query, int count, int claims) throws SQLException {
        return query.set("tenth", bulk(count, claims))
                .set("high_share", high(count, claims))
                .set("bulk_first", bulkIsFirst(claims))
                .set("normal_first", normalIsFirst(claims));
    }

    static int bulk(int count, int claims) {
        return (count + claims % 10) / 10;
    }

    static int high(int count, int claims) {
        return count - bulk(count, claims) - (count + (claims + 1) % 4) / 4;
    }

    static boolean bulkIsFirst(int claims) {
        return claims % 10 == 9;
    }

    static boolean normalIsFirst(int claims) {
        return claims % 4 == 2;
    }
}
