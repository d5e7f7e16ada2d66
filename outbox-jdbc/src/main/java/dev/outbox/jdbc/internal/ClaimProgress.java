package dev.outbox.jdbc.internal;

import dev.outbox.jdbc.internal.Claimed.Topics;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * How far the claims of one poller have come, for one set of topics. What a claim for some topics has found, or not found,
 * says nothing about others. Not thread-safe.
 */
public record ClaimProgress(Marks marks, KeyTour tour, Turns turns) {
    /** For the latest few sets of topics that a poller has asked for: they change only if a route fails or recovers. */
    public static final class ByTopics {
        private static final int MOST = 8;

        private final LongSupplier ticker;
        private final Marks.Binding binding;
        private final Map<Topics, ClaimProgress> latest = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Topics, ClaimProgress> eldest) {
                return size() > MOST;
            }
        };

        public ByTopics(LongSupplier ticker, Marks.Binding binding) {
            this.ticker = ticker;
            this.binding = binding;
        }

        public ClaimProgress of(Topics topics) {
            return latest.computeIfAbsent(
                    topics, one -> new ClaimProgress(new Marks(ticker, binding), new KeyTour(), new Turns(ticker)));
        }
    }
}
