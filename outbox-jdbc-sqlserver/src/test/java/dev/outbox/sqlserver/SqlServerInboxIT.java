package dev.outbox.sqlserver;

import dev.outbox.testkit.InboxFixture;
import org.junit.jupiter.api.Nested;

/** The contract of an inbox on SQL Server. */
class SqlServerInboxIT {
    /** On the server that the test's annotation names. */
    abstract static class OnItsServer extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return new SqlServerInboxFixture(Server.databaseOf(getClass()));
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
