package dev.outbox.internal;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Stage;
import java.sql.Connection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.UnaryOperator;

/** The stage of every outbox. Messages wait in memory: first as they were added, then prepared. */
public final class CollectingStage implements Stage {
    private final Outbox outbox;
    private final UnaryOperator<Message> prepare;
    private final Deque<Message> staged = new ArrayDeque<>();
    private final List<Message> pending = new ArrayList<>();

    /** How many of the pending ones, from the first, the last flush wrote. */
    private int written;

    /**
     * @param prepare encodes and checks a message as enqueue does, without a connection; throws what enqueue
     *     would throw
     */
    public CollectingStage(Outbox outbox, UnaryOperator<Message> prepare) {
        this.outbox = Require.present("outbox", outbox);
        this.prepare = Require.present("prepare", prepare);
    }

    @Override
    public Stage through(Outbox other) {
        return new CollectingStage(other, prepare);
    }

    @Override
    public Message add(Message message) {
        Message named = Require.present("message", message).id() == null
                ? message.id(UuidV7.next().toString())
                : message;
        staged.add(named);
        return named;
    }

    @Override
    public Enqueued flush(Connection tx) {
        // Whatever an earlier flush wrote may have been rolled back since.
        written = 0;
        for (Message next = staged.peek(); next != null; next = staged.peek()) {
            pending.add(prepare.apply(next));
            staged.remove();
        }
        Enqueued enqueued = outbox.enqueueAll(tx, pending);
        written = pending.size();
        return enqueued;
    }

    @Override
    public void committed() {
        pending.subList(0, written).clear();
        written = 0;
        outbox.wakeUp();
    }

    @Override
    public boolean isEmpty() {
        return staged.isEmpty() && pending.isEmpty();
    }
}
