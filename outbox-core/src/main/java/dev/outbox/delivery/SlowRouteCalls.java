package dev.outbox.delivery;

import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Makes the calls that slow routes allow: one at a time for each, with items that are claimed for it. */
final class SlowRouteCalls {
    /** Of how many items those are chosen in an outage; when bad messages may be to blame, of a full batch. */
    private static final int MOST_CHOICES = 50;

    private final PollerOptions options;
    private final RouteTable routes;
    private final Claimer claimer;
    private final Dispatcher dispatcher;
    private final ClaimRequest all;

    SlowRouteCalls(PollerContext context, Claimer claimer, Dispatcher dispatcher) {
        this.options = context.options();
        this.routes = context.routes();
        this.claimer = claimer;
        this.dispatcher = dispatcher;
        this.all = options.claimRequest();
    }

    /**
     * Claims what slow routes may be called with now, whether there is room or not.
     *
     * @return how many items were claimed
     */
    int make() {
        int claimed = 0;
        for (RouteTable.Probe probe = routes.probe(all); probe != null; probe = routes.probe(all)) {
            claimed += make(probe);
        }
        return claimed;
    }

    private int make(RouteTable.Probe probe) {
        int items = 0;
        try {
            boolean storm = probe.route().mayBeAStorm(options.now());
            int choices = storm ? options.maxBatch() : Math.min(MOST_CHOICES, options.maxBatch());
            ClaimRequest few = probe.request().count(choices);
            boolean more = true;
            for (int claims = 0; items == 0 && more && claims < PollLoop.MOST_EMPTY_CLAIMS; claims++) {
                Claim claim = claimer.claim(few, runs -> permitted(runs, probe, storm));
                items = claim.items().size();
                more = claim.more();
            }
        } finally {
            if (items == 0) {
                probe.permit().giveBack();
            }
        }
        return items;
    }

    /**
     * What to call a slow route with: one run, or a small batch. Of all that could be, those that are no suspects and have
     * failed least often, chosen at random: bad items that come first must not be tried again and again while good ones
     * wait behind them.
     *
     * <p>The others are given back. But if bad messages may fill the front of the queue, they wait: if the call is a success
     * they follow it at once; if not, they are put off, so that the next claim sees what comes behind them. In that case
     * the call is made with the latest of them, which may have come after the bad ones.
     */
    private List<Run> permitted(List<Run> runs, RouteTable.Probe probe, boolean storm) {
        List<Run> ranked = new ArrayList<>(runs);
        Collections.shuffle(ranked, ThreadLocalRandom.current());
        if (storm) {
            ranked.sort(Comparator.comparingLong((Run run) -> run.first().sequence())
                    .reversed());
        }
        ranked.sort(Comparator.comparing((Run run) -> probe.route().isSuspect(run.first()))
                .thenComparing(run -> run.first().attempt()));
        boolean oneByOne = dispatcher.runsPerCall() == 1;
        int best = Math.min(oneByOne ? 1 : options.minBatch(), ranked.size());
        List<Run> permitted = List.copyOf(ranked.subList(0, best));
        List<Run> others = ranked.subList(best, ranked.size());
        permitted.forEach(run -> run.permit(probe.permit()));
        if (storm) {
            permitted.get(0).waitBehind(others);
        } else {
            dispatcher.giveBack(others);
        }
        return permitted;
    }
}
