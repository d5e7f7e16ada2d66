package dev.outbox.migrations;

import dev.outbox.internal.Require;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.internal.InstallScript;
import java.util.Locale;

/** The rights on the tables that one task needs, and no more. */
public enum Role {
    /** Creates and changes the tables. */
    MIGRATOR,
    /** Enqueues into the outbox, and can read only the ids of its rows. */
    PRODUCER,
    /** Receives and enqueues into the inbox. */
    RECEIVER,
    /** Claims, settles and purges. */
    POLLER,
    /** Reads everything but payloads. */
    VIEWER,
    /**
     * Requeues, discards and purges. The audit table records each of these actions; this role cannot change the records.
     */
    OPERATOR;

    /**
     * The GRANT statements, for people to read and run as the owner of the tables.
     *
     * @param grantee the database role that gets these rights; letters, digits and underscores
     * @param schema the schema of the tables
     */
    public String grants(Database database, String grantee, String schema, String outbox, String inbox) {
        TableName checked = new TableName(Require.present("schema", schema), Require.present("grantee", grantee));
        String folder = Require.present("database", database).name().toLowerCase(Locale.ROOT);
        return InstallScript.read(folder + "/roles/" + name().toLowerCase(Locale.ROOT) + ".sql")
                .replace("${role}", checked.name())
                .replace(Quoted.name(database, "${schema}"), Quoted.name(database, schema))
                .replace("${outbox_table}", new TableName(null, outbox).name())
                .replace("${inbox_table}", new TableName(null, inbox).name());
    }
}
