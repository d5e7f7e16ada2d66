package dev.outbox.sqlserver;

import dev.outbox.Ack;
import dev.outbox.testkit.SourceContract;
import dev.outbox.testkit.SourceFixture;
import org.junit.jupiter.api.Nested;

/** The contract on SQL Server, delivered rows deleted. */
class SqlServerDeletingSourceIT {
    @Nested
    @OnServer(Server.GIVEN)
    class OnTheServerGiven extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.GIVEN.database(Server.Variant.AS_IT_IS), Ack.DELETE);
        }
    }

    @Nested
    @OnServer(Server.V2019)
    class On2019 extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.V2019.database(Server.Variant.AS_IT_IS), Ack.DELETE);
        }
    }

    @Nested
    @OnServer(Server.V2022)
    class On2022 extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.V2022.database(Server.Variant.AS_IT_IS), Ack.DELETE);
        }
    }
}
