package dev.outbox.internal;

import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.PayloadSerializer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What an outbox, inbox or source does with a message, and its user never does. So it is no method of the user's types: each
 * of them hands its part over to this class when it is loaded.
 */
public final class CoreAccess {
    private static volatile @Nullable BiFunction<Message, @Nullable PayloadSerializer, Message> serializing;
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
     * Refuses to receive what only a handler would heed.
     *
     * @throws IllegalArgumentException if it has a topic, a key, a due time or a priority
     */
    public static void checkReceivable(Incoming incoming) {
        Require.present("receivable", receivable).accept(incoming);
    }

    /** For {@link Message}. */
    public static void serializeBy(BiFunction<Message, @Nullable PayloadSerializer, Message> serializing) {
        CoreAccess.serializing = serializing;
    }

    /** For {@link Incoming}. */
    public static void checkReceivableBy(Consumer<Incoming> receivable) {
        CoreAccess.receivable = receivable;
    }
}
