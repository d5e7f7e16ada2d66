package dev.outbox.sqlserver;

import dev.outbox.testkit.InboxFixture;
import org.junit.jupiter.api.Nested;

/** The contract of an inbox whatever the database makes of READ COMMITTED. */
class InboxIsolationIT {
    /** On the server that the test's annotation names. */
    abstract static class OnItsServer extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return new SqlServerInboxFixture(Server.databaseOf(getClass()));
        }
    }

    @Nested
    @OnServer(value = Server.GIVEN, variant = Server.Variant.RCSI_ON)
    class ReadingByVersionsOnTheServerGiven extends OnItsServer {}

    @Nested
    @OnServer(value = Server.GIVEN, variant = Server.Variant.RCSI_OFF)
    class ReadingByLocksOnTheServerGiven extends OnItsServer {}

    @Nested
    @OnServer(value = Server.V2019, variant = Server.Variant.RCSI_ON)
    class ReadingByVersionsOn2019 extends OnItsServer {}

    @Nested
    @OnServer(value = Server.V2019, variant = Server.Variant.RCSI_OFF)
    class ReadingByLocksOn2019 extends OnItsServer {}

    @Nested
    @OnServer(value = Server.V2022, variant = Server.Variant.RCSI_ON)
    class ReadingByVersionsOn2022 extends OnItsServer {}

    @Nested
    @OnServer(value = Server.V2022, variant = Server.Variant.RCSI_OFF)
    class ReadingByLocksOn2022 extends OnItsServer {}
}
