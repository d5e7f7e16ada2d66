package dev.outbox.sqlserver;

import dev.outbox.testkit.SourceContract;
import dev.outbox.testkit.SourceFixture;
import org.junit.jupiter.api.Nested;

/** The contract of a source on an inbox table that other consumers and received messages share. */
class SqlServerInboxSourceIT {
    /** On the server that the test's annotation names. */
    abstract static class OnItsServer extends SourceContract {
        @Override
        protected SourceFixture openFixture() throws Exception {
            return new SqlServerInboxSourceFixture(Server.databaseOf(getClass()));
        }
    }

    @Nested
    @OnServer(Server.GIVEN)
    class OnTheServerGiven extends OnItsServer {}

    @Nested
    @OnServer(Server.V2019)
    class On2019 extends OnItsServer {}

    @Nested
    @OnServer(Server.V2022)
    class On2022 extends OnItsServer {}
}
