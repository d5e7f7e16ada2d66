package dev.outbox.internal;

import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.PayloadSerializer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Operations on messages that outboxes, inboxes and sources need and users do not. They are private methods of {@link Message}
 * and {@link Incoming}, which hand them over to this class when they are loaded.
 */
public final class CoreAccess {
    private static volatile @Nullable BiFunction<Message, @Nullable PayloadSerializer, Message> serializing;
    private static volatile @Nullable ToIntFunction<Message> measuring;
    private static volatile @Nullable Consumer<Incoming> receivable;

    private CoreAccess() {}

    /**
     * The message with its body, if it has one, encoded into the payload, and with {@link Message#body(Class)} decoding by
     * this serializer.
     *
     * @param serializer null where there is none
     * @throws IllegalArgumentException if the body cannot be encoded, or there is a body and no serializer
     */
    public static Message serialized(Message message, @Nullable PayloadSerializer serializer) {
        return Require.present("serializing", serializing).apply(message, serializer);
    }

    /**
     * Refuses to receive a message with settings that only a handler uses.
     *
     * @throws IllegalArgumentException if it has a topic, a key, a due time or a priority
     */
    public static void checkReceivable(Incoming incoming) {
        Require.present("receivable", receivable).accept(incoming);
    }

    /** Roughly how many bytes of memory the payload takes. */
    public static int payloadSize(Message message) {
        return Require.present("measuring", measuring).applyAsInt(message);
    }

    /** For {@link Message}. */
    public static void toMessages(
            BiFunction<Message, @Nullable PayloadSerializer, Message> serializing, ToIntFunction<Message> measuring) {
        CoreAccess.serializing = serializing;
        CoreAccess.measuring = measuring;
    }

    /** For {@link Incoming}. */
    public static void checkReceivableBy(Consumer<Incoming> receivable) {
        CoreAccess.receivable = receivable;
    }
}
