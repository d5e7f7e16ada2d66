package dev.outbox.migrations;

import dev.outbox.internal.Require;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.internal.InstallScript;
import java.util.Locale;

/** What somebody may do to the tables, no more than the task needs. */
public enum Role {
    /** Creates and changes the tables. */
    MIGRATOR,
    /** Enqueues into the outbox, and sees nothing of it but ids. */
    PRODUCER,
    /** Receives and enqueues into the inbox. */
    RECEIVER,
    /** Claims, settles and purges. */
    POLLER,
    /** Sees everything but payloads. */
    VIEWER,
    /** Requeues, discards and purges; what it did it cannot hide. */
    OPERATOR;

    /** {@link #grants(Database, String, String, String, String)} for PostgreSQL. */
    public String grants(String grantee, String schema, String outbox, String inbox) {
        return grants(Database.POSTGRES, grantee, schema, outbox, inbox);
    }

    /**
     * The GRANT statements, for people to read and run as the owner of the tables.
     *
     * @param grantee the database role that is to have it; letters, digits and underscores
     * @param schema where the tables are
     */
    public String grants(Database database, String grantee, String schema, String outbox, String inbox) {
        TableName checked = new TableName(Require.present("schema", schema), Require.present("grantee", grantee));
        String folder = Require.present("database", database).name().toLowerCase(Locale.ROOT);
        return InstallScript.read(folder + "/roles/" + name().toLowerCase(Locale.ROOT) + ".sql")
                .replace("${role}", checked.name())
                .replace("${schema}", String.valueOf(checked.schema()))
                .replace("${outbox_table}", new TableName(null, outbox).name())
                .replace("${inbox_table}", new TableName(null, inbox).name());
    }
}
