package dev.outbox.postgres;

import dev.outbox.EncodedBody;
import dev.outbox.PayloadSerializer;
import dev.outbox.PermanentFailureException;
import java.util.HashSet;
import java.util.Set;

/** A serializer of one type, for which single notes can be made to fail. */
final class Notes implements PayloadSerializer {
    record Note(String text) {}

    /** Texts that cannot be encoded while they are in here. */
    final Set<String> broken = new HashSet<>();

    @Override
    public EncodedBody encode(Object body) {
        if (!(body instanceof Note note) || broken.contains(note.text())) {
            throw new IllegalArgumentException(
                    "cannot encode a " + body.getClass().getSimpleName());
        }
        return EncodedBody.text("note.v1", "text/plain", note.text());
    }

    @Override
    public <T> T decode(EncodedBody body, Class<T> type) {
        if (!body.type().equals("note.v1")) {
            throw new PermanentFailureException("unknown type " + body.type());
        }
        return type.cast(new Note(body.text()));
    }
}
