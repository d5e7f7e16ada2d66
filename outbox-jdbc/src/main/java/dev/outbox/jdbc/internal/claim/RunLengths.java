package dev.outbox.jdbc.internal.claim;

/**
 * How many rows of a key a claim takes.
 *
 * <p>Finding a key costs about as much as taking a row. So where keys have much waiting, a claim takes fewer of them, though
 * not fewer than {@value #FEWEST_KEYS}, and longer runs of each; where they have little, it takes more keys: as many as fill
 * the batch, by what the keys of the last claims had. A single key fills the batch alone. Not thread-safe.
 */
final class RunLengths {
    private static final int FEWEST_KEYS = 32;

    private static final int GROW_AFTER = 32;

    /** How many rows a key is expected to have waiting. */
    private double run = 1;

    /** How many claims to wait before longer runs are tried once more. */
    private int growsIn;

    /** How many keys fill a batch. */
    int keys(int batch) {
        return Math.max(1, (int) (batch / run));
    }

    /** The most rows to take of each key, if there are that many keys. */
    int longest(int batch) {
        return (int) Math.ceil(Math.min(2 * run, most(batch)));
    }

    private static double most(int batch) {
        return Math.max(1, batch / FEWEST_KEYS);
    }

    /**
     * A claim is over.
     *
     * @param wasFull whether it took as many keys as it could, so that it says how many rows the keys have waiting
     * @param rows how many it took of these keys
     */
    void claimed(int batch, boolean wasFull, int keys, int rows) {
        growsIn--;
        if (!wasFull || keys == 0) {
            return;
        }
        if (rows < batch / 10 * 9) {
            run = Math.max(1, (double) rows / keys);
            growsIn = GROW_AFTER;
        } else if (growsIn <= 0) {
            run = Math.min(2 * run, most(batch));
        }
    }
}
