package dev.outbox.postgres;

import dev.outbox.Inbox;
import dev.outbox.testkit.InboxCrash;
import org.postgresql.ds.PGSimpleDataSource;

/** A consumer in a JVM of its own that crashes. Its arguments: where, url, inbox table, effects table, consumer, id. */
final class CrashMain {
    private CrashMain() {}

    public static void main(String[] arguments) throws Exception {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(arguments[1]);
        Inbox inbox = PostgresInbox.builder(dataSource)
                .table(arguments[2])
                .consumer(arguments[4])
                .build();
        InboxCrash.valueOf(arguments[0]).run(inbox, dataSource, arguments[3], arguments[5]);
    }
}
