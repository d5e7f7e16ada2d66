package dev.outbox.migrations;

import dev.outbox.internal.Require;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.internal.InstallScript;
import dev.outbox.migrations.internal.Literal;

/** Scripts that import the rows of other outbox tables on PostgreSQL, as plain SQL for people to read, adapt and run. */
public final class Import {
    private Import() {}

    /**
     * The script for a table of events per entity, whose rows are deleted or get a {@code sent_at} once they are sent.
     *
     * @param topic the topic of all messages, because the table has none
     */
    public static String entityEvents(String sourceTable, String outboxTable, String topic) {
        return render("postgres/import/entity_events.sql", sourceTable, outboxTable)
                .replace("'${topic}'", Literal.text(Require.present("topic", topic)))
                .replace("${topic}", topic.replaceAll("\\R", " "));
    }

    /** The script for a table of events per tenant and aggregate that are pending, published or failed. */
    public static String tenantEvents(String sourceTable, String outboxTable) {
        return render("postgres/import/tenant_events.sql", sourceTable, outboxTable);
    }

    private static String render(String resource, String sourceTable, String outboxTable) {
        return InstallScript.read(resource)
                .replace("${source_table}", Quoted.postgres(TableName.parse(sourceTable)))
                .replace("${outbox_table}", Quoted.postgres(TableName.parse(outboxTable)));
    }
}
