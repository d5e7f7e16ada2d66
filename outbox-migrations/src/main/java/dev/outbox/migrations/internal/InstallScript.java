package dev.outbox.migrations.internal;

import dev.outbox.internal.Require;
import dev.outbox.jdbc.TableKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The scripts in the jar that create something. Every database has each of them, in a folder of its own. */
public enum InstallScript {
    OUTBOX("install/V1__outbox.sql", "${outbox_table}"),
    INBOX("inbox/V1__inbox.sql", "${inbox_table}"),
    AUDIT("admin/V1__audit.sql", "outbox_audit"),
    POLLERS("admin/V2__pollers.sql", "outbox_pollers"),
    LOOKUP("lookup/V1__lookup.sql", "${outbox_table}");

    private static final String RESOURCES = "/dev/outbox/migrations/";

    private final String resource;
    private final String placeholder;

    /** @param placeholder what stands for the table's name: a table that has only one name is called by it */
    InstallScript(String resource, String placeholder) {
        this.resource = resource;
        this.placeholder = placeholder;
    }

    public static InstallScript of(TableKind kind) {
        return kind == TableKind.OUTBOX ? OUTBOX : INBOX;
    }

    /** What stands for the name of the table in the script. */
    public String placeholder() {
        return placeholder;
    }

    /** As it is in the jar. */
    public String text(String folder) {
        return read(folder + "/" + resource);
    }

    /** As it is in the jar, with {@code TABLE} for the placeholder. */
    public String template(String folder) {
        return text(folder).replace(placeholder, "TABLE");
    }

    /** A text in the jar, by its place below the folder of the migrations. */
    public static String read(String resource) {
        try (InputStream text = InstallScript.class.getResourceAsStream(RESOURCES + resource)) {
            return new String(Require.present(resource, text).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
