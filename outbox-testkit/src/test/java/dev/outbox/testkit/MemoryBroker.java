package dev.outbox.testkit;

import dev.outbox.WorkItem;
import dev.outbox.delivery.BatchDestination;
import dev.outbox.delivery.Outcome;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The simplest broker and its destination, to try the contract on; mutants override what they break. */
class MemoryBroker implements DestinationFixture, BatchDestination {
    final List<String> arrived = new ArrayList<>();
    final Set<String> refused = new HashSet<>();
    boolean down;
    boolean closed;

    @Override
    public List<Outcome> deliver(List<WorkItem> items) throws Exception {
        if (down || closed) {
            throw new IllegalStateException("the broker is down");
        }
        List<Outcome> outcomes = new ArrayList<>();
        for (WorkItem item : items) {
            if (refused.contains(item.messageId())) {
                outcomes.add(Outcome.dead(new IllegalStateException("refused")));
            } else {
                arrived.add(item.messageId());
                outcomes.add(Outcome.done());
            }
        }
        return outcomes;
    }

    @Override
    public BatchDestination destination() {
        return this;
    }

    @Override
    public List<String> arrived() {
        return List.copyOf(arrived);
    }

    @Override
    public void breakDown() {
        down = true;
    }

    @Override
    public void repair() {
        down = false;
    }

    @Override
    public boolean refuse(String messageId) {
        return refused.add(messageId);
    }

    @Override
    public void closeDestination() {
        closed = true;
    }

    @Override
    public void close() {}
}
