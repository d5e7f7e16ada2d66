package dev.outbox.sqlserver;

import com.microsoft.sqlserver.jdbc.SQLServerDataSource;
import dev.outbox.Inbox;
import dev.outbox.testkit.InboxCrash;

/** A consumer in a JVM of its own that crashes. Its arguments: where, url, inbox table, effects table, consumer, id. */
final class CrashMain {
    private CrashMain() {}

    public static void main(String[] arguments) throws Exception {
        SQLServerDataSource dataSource = new SQLServerDataSource();
        dataSource.setURL(arguments[1]);
        Inbox inbox = SqlServerInbox.builder(dataSource)
                .table(arguments[2])
                .consumer(arguments[4])
                .build();
        InboxCrash.valueOf(arguments[0]).run(inbox, dataSource, arguments[3], arguments[5]);
    }
}
