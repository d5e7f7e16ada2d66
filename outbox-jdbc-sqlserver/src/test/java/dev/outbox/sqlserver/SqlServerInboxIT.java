package dev.outbox.sqlserver;

import dev.outbox.testkit.InboxFixture;
import org.junit.jupiter.api.Nested;

/** The contract of an inbox on SQL Server. */
class SqlServerInboxIT {
    @Nested
    @OnServer(Server.GIVEN)
    class OnTheServerGiven extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return new SqlServerInboxFixture(Server.GIVEN.database(Server.Variant.AS_IT_IS));
        }
    }

    @Nested
    @OnServer(Server.V2019)
    class On2019 extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return new SqlServerInboxFixture(Server.V2019.database(Server.Variant.AS_IT_IS));
        }
    }

    @Nested
    @OnServer(Server.V2022)
    class On2022 extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return new SqlServerInboxFixture(Server.V2022.database(Server.Variant.AS_IT_IS));
        }
    }
}
