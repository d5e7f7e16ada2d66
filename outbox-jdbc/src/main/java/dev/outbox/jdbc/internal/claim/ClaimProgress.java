package dev.outbox.jdbc.internal.claim;

import dev.outbox.jdbc.internal.claim.ClaimedRows.Topics;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How far the claims of one poller have come, for one set of topics. What a claim for some topics has found, or not found,
 * says nothing about others. Not thread-safe.
 */
public record ClaimProgress(LowWaterMarks marks, KeyRound round, KeyScan keys, QueueTurns turns) {
    /** For the latest few sets of topics that a poller has asked for: they change only if a route fails or recovers. */
    public static final class ByTopics {
        private static final int MOST = 64;

        private final LongSupplier ticker;
        private final LowWaterMarks.Binding binding;
        private final FreedKeys freed;
        private final Arrivals arrivals;
        private final Map<Topics, ClaimProgress> latest = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Topics, ClaimProgress> eldest) {
                return size() > MOST;
            }
        };

        private @Nullable Topics presentTopics;
        private @Nullable ClaimProgress present;

        public ByTopics(LongSupplier ticker, LowWaterMarks.Binding binding, FreedKeys freed, Arrivals arrivals) {
            this.ticker = ticker;
            this.freed = freed;
            this.arrivals = arrivals;
            this.binding = binding;
        }

        /** What was known of these topics, or is known from claims for more topics. */
        public ClaimProgress of(Topics topics) {
            ClaimProgress before = present;
            if (before != null && topics.equals(presentTopics)) {
                return before;
            }
            ClaimProgress progress = latest.get(topics);
            if (progress == null) {
                progress = new ClaimProgress(
                        new LowWaterMarks(ticker, binding),
                        new KeyRound(),
                        new KeyScan(ticker, freed, topics::want),
                        new QueueTurns(ticker, arrivals));
                if (before != null) {
                    progress.marks.sweepWith(before.marks);
                    progress.keys.sweepWith(before.keys);
                }
            }
            for (Map.Entry<Topics, ClaimProgress> other : latest.entrySet()) {
                if (other.getKey().cover(topics)) {
                    progress.marks.startFrom(other.getValue().marks);
                    progress.keys.startFrom(other.getValue().keys);
                }
            }
            latest.put(topics, progress);
            presentTopics = topics;
            present = progress;
            return progress;
        }
    }
}
