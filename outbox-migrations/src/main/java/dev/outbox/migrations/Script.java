package dev.outbox.migrations;

import dev.outbox.internal.Require;
import dev.outbox.jdbc.internal.TableName;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** A script that installs a table, and the placeholder in it that stands for the table. */
enum Script {
    OUTBOX("postgres/install/V1__outbox.sql", "${outbox_table}"),
    INBOX("postgres/inbox/V1__inbox.sql", "${inbox_table}");

    private final String resource;
    private final String placeholder;

    Script(String resource, String placeholder) {
        this.resource = resource;
        this.placeholder = placeholder;
    }

    /** The script for this table. */
    String render(TableName name) {
        return text(resource)
                .replace("\"" + placeholder + "\"", Quoted.table(name))
                .replace(placeholder, name.name());
    }

    /** The script as it is in the jar, with {@code TABLE} for the placeholder. */
    String template() {
        return text(resource).replace(placeholder, "TABLE");
    }

    static String text(String resource) {
        try (InputStream text = Script.class.getResourceAsStream(resource)) {
            return new String(Require.present(resource, text).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
