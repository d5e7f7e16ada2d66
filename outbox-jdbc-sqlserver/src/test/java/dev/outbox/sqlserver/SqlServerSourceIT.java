package dev.outbox.sqlserver;

import dev.outbox.Ack;
import dev.outbox.testkit.SourceContract;
import dev.outbox.testkit.SourceFixture;
import org.junit.jupiter.api.Nested;

/** The contract on SQL Server, delivered rows kept. */
class SqlServerSourceIT {
    /** On the server that the test's annotation names. */
    abstract static class OnItsServer extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.databaseOf(getClass()), Ack.KEEP);
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
