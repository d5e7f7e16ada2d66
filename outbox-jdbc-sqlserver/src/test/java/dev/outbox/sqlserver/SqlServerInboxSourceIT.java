package dev.outbox.sqlserver;

import dev.outbox.testkit.SourceContract;
import dev.outbox.testkit.SourceFixture;
import org.junit.jupiter.api.Nested;

/** The contract of a source on an inbox table that other consumers and received messages share. */
class SqlServerInboxSourceIT {
    @Nested
    @OnServer(Server.GIVEN)
    class OnTheServerGiven extends SourceContract {
        @Override
        protected SourceFixture openFixture() throws Exception {
            return new SqlServerInboxSourceFixture(Server.GIVEN.database(Server.Variant.AS_IT_IS));
        }
    }

    @Nested
    @OnServer(Server.V2019)
    class On2019 extends SourceContract {
        @Override
        protected SourceFixture openFixture() throws Exception {
            return new SqlServerInboxSourceFixture(Server.V2019.database(Server.Variant.AS_IT_IS));
        }
    }

    @Nested
    @OnServer(Server.V2022)
    class On2022 extends SourceContract {
        @Override
        protected SourceFixture openFixture() throws Exception {
            return new SqlServerInboxSourceFixture(Server.V2022.database(Server.Variant.AS_IT_IS));
        }
    }
}
