package dev.outbox.sqlserver;

import dev.outbox.testkit.InboxFixture;
import org.junit.jupiter.api.Nested;

/** The contract of an inbox whatever the database makes of READ COMMITTED. */
class InboxIsolationIT {
    @Nested
    @OnServer(value = Server.GIVEN, variant = Server.Variant.RCSI_ON)
    class ReadingByVersionsOnTheServerGiven extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return new SqlServerInboxFixture(Server.GIVEN.database(Server.Variant.RCSI_ON));
        }
    }

    @Nested
    @OnServer(value = Server.GIVEN, variant = Server.Variant.RCSI_OFF)
    class ReadingByLocksOnTheServerGiven extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return new SqlServerInboxFixture(Server.GIVEN.database(Server.Variant.RCSI_OFF));
        }
    }

    @Nested
    @OnServer(value = Server.V2019, variant = Server.Variant.RCSI_ON)
    class ReadingByVersionsOn2019 extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return new SqlServerInboxFixture(Server.V2019.database(Server.Variant.RCSI_ON));
        }
    }

    @Nested
    @OnServer(value = Server.V2019, variant = Server.Variant.RCSI_OFF)
    class ReadingByLocksOn2019 extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return new SqlServerInboxFixture(Server.V2019.database(Server.Variant.RCSI_OFF));
        }
    }

    @Nested
    @OnServer(value = Server.V2022, variant = Server.Variant.RCSI_ON)
    class ReadingByVersionsOn2022 extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return new SqlServerInboxFixture(Server.V2022.database(Server.Variant.RCSI_ON));
        }
    }

    @Nested
    @OnServer(value = Server.V2022, variant = Server.Variant.RCSI_OFF)
    class ReadingByLocksOn2022 extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return new SqlServerInboxFixture(Server.V2022.database(Server.Variant.RCSI_OFF));
        }
    }
}
