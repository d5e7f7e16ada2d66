package dev.outbox.sqlserver;

import dev.outbox.Ack;
import dev.outbox.testkit.SourceContract;
import dev.outbox.testkit.SourceFixture;
import org.junit.jupiter.api.Nested;

/** The contract whatever the database and the pool make of READ COMMITTED, and of literals. */
class IsolationIT {
    @Nested
    @OnServer(value = Server.GIVEN, variant = Server.Variant.RCSI_ON)
    class ReadingByVersionsOnTheServerGiven extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.GIVEN.database(Server.Variant.RCSI_ON), Ack.KEEP);
        }
    }

    @Nested
    @OnServer(value = Server.GIVEN, variant = Server.Variant.RCSI_OFF)
    class ReadingByLocksOnTheServerGiven extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.GIVEN.database(Server.Variant.RCSI_OFF), Ack.KEEP);
        }
    }

    @Nested
    @OnServer(value = Server.GIVEN, variant = Server.Variant.SNAPSHOT)
    class WithConnectionsInSnapshotOnTheServerGiven extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.GIVEN.database(Server.Variant.SNAPSHOT), Ack.KEEP);
        }
    }

    @Nested
    @OnServer(value = Server.V2019, variant = Server.Variant.RCSI_ON)
    class ReadingByVersionsOn2019 extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.V2019.database(Server.Variant.RCSI_ON), Ack.KEEP);
        }
    }

    @Nested
    @OnServer(value = Server.V2019, variant = Server.Variant.RCSI_OFF)
    class ReadingByLocksOn2019 extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.V2019.database(Server.Variant.RCSI_OFF), Ack.KEEP);
        }
    }

    @Nested
    @OnServer(value = Server.V2019, variant = Server.Variant.SNAPSHOT)
    class WithConnectionsInSnapshotOn2019 extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.V2019.database(Server.Variant.SNAPSHOT), Ack.KEEP);
        }
    }

    @Nested
    @OnServer(value = Server.V2022, variant = Server.Variant.RCSI_ON)
    class ReadingByVersionsOn2022 extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.V2022.database(Server.Variant.RCSI_ON), Ack.KEEP);
        }
    }

    @Nested
    @OnServer(value = Server.V2022, variant = Server.Variant.RCSI_OFF)
    class ReadingByLocksOn2022 extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.V2022.database(Server.Variant.RCSI_OFF), Ack.KEEP);
        }
    }

    @Nested
    @OnServer(value = Server.V2022, variant = Server.Variant.SNAPSHOT)
    class WithConnectionsInSnapshotOn2022 extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.V2022.database(Server.Variant.SNAPSHOT), Ack.KEEP);
        }
    }

    @Nested
    @OnServer(value = Server.GIVEN, variant = Server.Variant.FORCED)
    class WithForcedParameterizationOnTheServerGiven extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.GIVEN.database(Server.Variant.FORCED), Ack.KEEP);
        }
    }

    @Nested
    @OnServer(value = Server.V2019, variant = Server.Variant.FORCED)
    class WithForcedParameterizationOn2019 extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.V2019.database(Server.Variant.FORCED), Ack.KEEP);
        }
    }

    @Nested
    @OnServer(value = Server.V2022, variant = Server.Variant.FORCED)
    class WithForcedParameterizationOn2022 extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.V2022.database(Server.Variant.FORCED), Ack.KEEP);
        }
    }
}
