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
 * <p>Finding a key costs about as much as taking a row. So where keys have much waiting, a claim takes fewer
 * of them, though not fewer than {@value FEWEST_KEYS}, and longer runs of each; where they have little, it
 * takes more keys: as many as fill the batch, by what the keys of the last claims had. A single key fills the
 * batch alone.
 *
 * <p>If the bound in bytes does not suffice for all heads, urgent ones are taken first, the oldest before the others; then
 * those of the round, in its order. In one claim of ten those of the round come first. The cursor does not pass by a head of
 * the round that was left behind.
 */
public final class KeyRound {
    private static final int FEWEST_KEYS = 32;

    private static final int GROW_AFTER = 32;

    /** How many keys one claim looks at, as a multiple of the rows it wants. */
    private static final int PROBES_PER_ROW = 4;

    private String cursor = "";
    private String next = "";

    /** How many rows a key is expected to have waiting. */
    private double run = 1;

    /** How many claims to wait before longer runs are tried once more. */
    private int growsIn;

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
                .set("heads", heads(count))
                .set("longest_run", (int) Math.ceil(Math.min(2 * run, longestRun(count))))
                .set("urgent_heads", urgentHeads(heads(count)))
                .set("round_turn", claims % 10 == 0 ? Long.MIN_VALUE : Long.MAX_VALUE)
                .set("probes", PROBES_PER_ROW * count)
                .set("bulk_chance", onlyBulkKeys ? 1.0 : 0.1);
    }

    private int heads(int count) {
        return Math.max(1, (int) (count / run));
    }

    private static double longestRun(int count) {
        return Math.max(1, count / FEWEST_KEYS);
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
        growsIn--;
        if (!cut && keys.size() == heads(count)) {
            if (rows < count / 10 * 9) {
                run = Math.max(1, (double) rows / keys.size());
                growsIn = GROW_AFTER;
            } else if (growsIn <= 0) {
                run = Math.min(2 * run, longestRun(count));
            }
        }
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
