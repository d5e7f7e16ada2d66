package dev.outbox;

import java.nio.charset.StandardCharsets;

/** A serializer of two types: text for one, bytes for the other. */
final class Greetings implements PayloadSerializer {
    record Hello(String name) {}

    record Bye(String name) {}

    /** A name that cannot be encoded. */
    static final String UNSPEAKABLE = "unspeakable";

    @Override
    public EncodedBody encode(Object body) {
        if (body instanceof Hello hello) {
            if (hello.name().equals(UNSPEAKABLE)) {
                throw new IllegalArgumentException("this name cannot be encoded");
            }
            return EncodedBody.text("hello.v1", "text/plain", hello.name());
        }
        if (body instanceof Bye bye) {
            return EncodedBody.bytes("bye.v1", null, bye.name().getBytes(StandardCharsets.UTF_8));
        }
        throw new IllegalArgumentException(body.getClass().getName() + " has no type name");
    }

    @Override
    public <T> T decode(EncodedBody body, Class<T> type) {
        return switch (body.type()) {
            case "hello.v1" -> type.cast(new Hello(body.text()));
            case "bye.v1" -> type.cast(new Bye(new String(body.bytes(), StandardCharsets.UTF_8)));
            default -> throw new UnknownTypeException("unknown type " + body.type());
        };
    }
}
