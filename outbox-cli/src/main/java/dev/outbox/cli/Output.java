package dev.outbox.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.outbox.admin.ItemRef;
import dev.outbox.jdbc.TableKind;
import java.io.PrintWriter;
import java.util.List;

/** What a command prints: for people, or for a script. */
final class Output {
    private static final ObjectMapper JSON = json().build();

    /** What steers a terminal is beyond ASCII, or escaped anyway. */
    private static final ObjectMapper JSON_FOR_TERMINALS =
            json().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    private final PrintWriter out;
    private final ObjectMapper mapper;
    private final boolean json;
    private final boolean coloured;

    Output(Environment environment, boolean json) {
        this.out = environment.out();
        this.mapper = environment.terminal().isThere() ? JSON_FOR_TERMINALS : JSON;
        this.json = json;
        this.coloured = !json && Style.areOn(environment);
    }

    private static JsonMapper.Builder json() {
        return JsonMapper.builder()
                .addModule(new JavaTimeModule())
                .addModule(new Jdk8Module())
                .addModule(new SimpleModule()
                        .addSerializer(ItemRef.class, ToStringSerializer.instance)
                        .addSerializer(TableKind.class, ToStringSerializer.instance))
                .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
                .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS);
    }

    boolean isJson() {
        return json;
    }

    /** One line for people; scripts do not see it. */
    void say(String line) {
        if (!json) {
            out.println(line);
        }
    }

    void say(TextTable table) {
        List<String> lines = table.lines();
        say(styled(Style.BOLD, lines.get(0)));
        lines.subList(1, lines.size()).forEach(this::say);
    }

    /** One value on one line for scripts; people do not see it. */
    void json(Object value) {
        if (json) {
            try {
                out.println(mapper.writeValueAsString(value));
            } catch (JsonProcessingException e) {
                throw new IllegalStateException(
                        "cannot write " + value.getClass().getName() + " as JSON", e);
            }
        }
    }

    /** Text that is the result itself, such as a script. */
    void raw(String text) {
        out.print(text);
        out.flush();
    }

    String styled(Style style, String text) {
        return coloured ? style.of(text) : text;
    }
}
