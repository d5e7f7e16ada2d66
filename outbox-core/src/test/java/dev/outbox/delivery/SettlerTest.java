package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SettlerTest {
    private final PollerOptions options = PollerOptionsTest.options();
    private final PollerContext context = PollerContext.of(options, new Object());
    private final InFlight inFlight = context.inFlight();

    @Test
    void anErrorWhileOneVerdictIsToldOfKeepsNoRoomAndTheOthersAreToldOf() {
        List<WorkItem> items = IntStream.range(0, 3)
                .mapToObj(i -> new WorkItem(
                        "item-" + i, i, 1, Instant.EPOCH, Message.to("a").payload("")))
                .toList();
        Claim claim = new Claim("token", Instant.EPOCH, items, List.of(), false);
        List<Run> runs = inFlight.add(new TimedClaim(claim, 1, options.now(), options.now() + Long.MAX_VALUE / 2));
        List<WorkItem> told = new ArrayList<>();
        Settler settler = new Settler(context, verdict -> {
            if (told.isEmpty()) {
                told.add(verdict.item());
                throw new LinkageError("while it is told of");
            }
            told.add(verdict.item());
        });
        Verdicts verdicts = new Verdicts(options);
        settler.addAll(runs.stream()
                .map(run -> List.of(verdicts.done(run, run.first(), options.now())))
                .toList());

        settler.flush();

        assertThat(told).isEqualTo(items);
        assertThat(inFlight.all().items()).isZero();
        assertThat(inFlight.runs()).isEmpty();
    }
}
