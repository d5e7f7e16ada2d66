package dev.outbox.jackson;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.outbox.EncodedBody;
import dev.outbox.Message;
import dev.outbox.PayloadSerializer;
import dev.outbox.PermanentFailureException;
import dev.outbox.UnknownTypeException;
import dev.outbox.internal.Require;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads message bodies as JSON, by an explicit list of type names and their classes.
 *
 * <pre>{@code
 * PayloadSerializer serializer = JacksonSerializer.builder()
 *         .type("orders.placed.v1", OrderPlaced.class)
 *         .type("orders.cancelled.v1", OrderCancelled.class)
 *         .build();
 * Outbox outbox = PostgresOutbox.builder(dataSource).serializer(serializer).build();
 * }</pre>
 *
 * <p>Only listed classes are written or read, and each exactly: a subclass is another class. The content of a message
 * never decides which class is loaded. The content type is {@value #CONTENT_TYPE}.
 *
 * <p>Immutable and thread-safe.
 */
public final class JacksonSerializer implements PayloadSerializer {
    /** The content type of every body. */
    public static final String CONTENT_TYPE = "application/json";

    private final ObjectMapper mapper;
    private final Map<String, Class<?>> classes;
    private final Map<Class<?>, String> names;

    private JacksonSerializer(ObjectMapper mapper, Builder options) {
        this.mapper = mapper;
        this.classes = Map.copyOf(options.classes);
        this.names = Map.copyOf(options.names);
    }

    public static Builder builder() {
        return new Builder();
    }

    @Override
    public EncodedBody encode(Object body) {
        Require.present("body", body);
        String name = names.get(body.getClass());
        if (name == null) {
            throw new IllegalArgumentException(body.getClass().getName()
                    + " has no type name, and that of another class does not apply; add type(\"…\", "
                    + body.getClass().getSimpleName() + ".class) to the serializer");
        }
        try {
            return EncodedBody.text(name, CONTENT_TYPE, mapper.writeValueAsString(body));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("a body of type " + name + " cannot be written as JSON", e);
        }
    }

    @Override
    public <T> T decode(EncodedBody body, Class<T> type) {
        String name = body.type();
        Class<?> registered = classes.get(name);
        if (registered == null) {
            throw new UnknownTypeException(
                    "unknown type " + name + "; the serializer knows " + new TreeSet<>(classes.keySet()));
        }
        if (registered != type) {
            throw new IllegalArgumentException(
                    "type " + name + " stands for " + registered.getName() + ", not for " + type.getName());
        }
        T decoded = read(name, body, type);
        if (decoded == null) {
            throw new PermanentFailureException("a body of type " + name + " must not be null, but the payload is");
        }
        return decoded;
    }

    /**
     * What Jackson throws repeats the content, and an item's error is kept and logged, so only the kind and the
     * place of it go on.
     */
    private <T> @Nullable T read(String name, EncodedBody body, Class<T> type) {
        try {
            return body.isBinary() ? mapper.readValue(body.bytes(), type) : mapper.readValue(body.text(), type);
        } catch (JsonProcessingException e) {
            JsonLocation at = e.getLocation();
            String place = at == null ? "" : " at line " + at.getLineNr() + ", column " + at.getColumnNr();
            throw new PermanentFailureException("the payload is not a body of type " + name + ": "
                    + e.getClass().getSimpleName() + place);
        } catch (IOException e) {
            throw new PermanentFailureException("the payload is not a body of type " + name + ": "
                    + e.getClass().getSimpleName());
        }
    }

    /** Lists the types, and takes the mapper. Not thread-safe. */
    public static final class Builder {
        private final Map<String, Class<?>> classes = new LinkedHashMap<>();
        private final Map<Class<?>, String> names = new LinkedHashMap<>();
        private @Nullable ObjectMapper mapper;

        private Builder() {}

        /**
         * Adds a type. Name and class may each be listed once.
         *
         * @param name the type name, which travels in the header {@value PayloadSerializer#TYPE_HEADER}, 1 to 255
         *     characters; it outlives the class, so give it a version
         * @param type a class that Jackson can write and read as it is, best a record; not an interface and not
         *     an abstract class
         */
        public Builder type(String name, Class<?> type) {
            Require.text("type name", name, Message.MAX_NAME);
            Require.present("class of type " + name, type);
            if (classes.containsKey(name)) {
                throw new IllegalArgumentException("type " + name + " is listed already, for "
                        + classes.get(name).getName());
            }
            if (names.containsKey(type)) {
                throw new IllegalArgumentException(type.getName() + " is listed already, as type " + names.get(type));
            }
            classes.put(name, type);
            names.put(type, name);
            return this;
        }

        /**
         * Sets a mapper of your own, which is copied in its current state. Default: one that writes dates and times as
         * ISO 8601 text, keeps their offsets, ignores unknown properties, so that a message may gain new ones, and
         * refuses any text after the JSON value.
         *
         * @throws IllegalArgumentException if default typing is active: it puts class names on the wire, and loads
         *     classes that a message names
         */
        public Builder mapper(ObjectMapper mapper) {
            ObjectMapper copy = Require.present("mapper", mapper).copy();
            if (copy.getDeserializationConfig().getDefaultTyper(copy.constructType(Object.class)) != null) {
                throw new IllegalArgumentException("mapper must not use default typing, which puts class names on"
                        + " the wire; call deactivateDefaultTyping() on it");
            }
            this.mapper = copy;
            return this;
        }

        /** @throws IllegalArgumentException if no type is listed */
        public JacksonSerializer build() {
            if (classes.isEmpty()) {
                throw new IllegalArgumentException("the serializer has no types; add one with type(name, class)");
            }
            return new JacksonSerializer(mapper == null ? standardMapper() : mapper, this);
        }

        private static ObjectMapper standardMapper() {
            return JsonMapper.builder()
                    .addModule(new JavaTimeModule())
                    .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
                    .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
                    .disable(DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
                    .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .build();
        }
    }
}
