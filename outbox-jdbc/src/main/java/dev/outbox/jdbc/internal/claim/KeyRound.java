package dev.outbox.jdbc.internal.claim;

import dev.outbox.jdbc.internal.sql.Query;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;

/**
 * The round that one source makes over all keys, a bounded number of them per claim, so that keys take turns.
 * Only a whole lap without a find means that there is nothing to claim.
 *
 * <p>A claim takes as many keys as fill the batch: see {@link RunLengths}.
 *
 * <p>If the bound in bytes does not suffice for all heads, urgent ones are taken first, the oldest before the others; then
 * those of the round, in its order. In one claim of ten those of the round come first. The cursor does not pass by a head of
 * the round that was left behind.
 */
public final class KeyRound {
    /** How many keys one claim looks at, as a multiple of the rows it wants. */
    private static final int PROBES_PER_ROW = 4;

    private String cursor = "";
    private String next = "";

    private final RunLengths runs = new RunLengths();

    private int claims;
    private int rows;
    private final Set<String> keys = new HashSet<>();
    private boolean onlyBulk;

    /** Whether the bound in bytes ended the claim. */
    private boolean cut;

    /** Whether it did so before all heads of the round were taken that were found. */
    private boolean headsCut;

    private boolean lapFound;
    private boolean lapOnlyBulk = true;

    /** Whether the last lap found no head but bulk; then bulk need not stand back. */
    private boolean onlyBulkKeys = true;

    public void set(Query query, int count) throws SQLException {
        claims++;
        rows = 0;
        keys.clear();
        onlyBulk = true;
        cut = false;
        headsCut = false;
        query.set("key_cursor", cursor)
                .set("heads", runs.keys(count))
                .set("longest_run", runs.longest(count))
                .set("urgent_heads", urgentHeads(runs.keys(count)))
                .set("round_turn", claims % 10 == 0 ? Long.MIN_VALUE : Long.MAX_VALUE)
                .set("probes", PROBES_PER_ROW * count)
                .set("bulk_chance", onlyBulkKeys ? 1.0 : 0.1);
    }

    /** Urgent keys come first, but one place in ten is left for the others. */
    private int urgentHeads(int heads) {
        return heads > 1 ? heads - Math.max(1, heads / 10) : claims % 10 == 0 ? 0 : 1;
    }

    /**
     * @param key the last key that was looked at, empty at the end of the round; if heads were cut, the last one before those
     *     that were left behind, or the cursor as it was
     */
    public void walked(String key) {
        next = key;
    }

    /** The bound in bytes ended the claim: it says nothing about how many rows the keys have waiting. */
    public void cut(ResultSet row) throws SQLException {
        cut = true;
        headsCut = row.getBoolean("heads_cut");
    }

    public void took(ResultSet row) throws SQLException {
        rows++;
        keys.add(row.getString("message_key"));
        onlyBulk &= row.getInt("priority") == 2;
    }

    /**
     * The claim is over: the cursor moves on; at the end it starts again.
     *
     * @return whether a whole lap has found nothing
     */
    public boolean end(int count) {
        runs.claimed(count, !cut && keys.size() == runs.keys(count), keys.size(), rows);
        lapFound |= rows > 0;
        lapOnlyBulk &= onlyBulk;
        if (headsCut || !next.isEmpty()) {
            cursor = next;
            return false;
        }
        boolean empty = !lapFound && onlyBulkKeys;
        cursor = "";
        onlyBulkKeys = lapOnlyBulk;
        lapFound = false;
        lapOnlyBulk = true;
        return empty;
    }
}
