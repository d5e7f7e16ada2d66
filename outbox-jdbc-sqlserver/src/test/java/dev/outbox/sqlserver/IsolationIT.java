package dev.outbox.sqlserver;

import dev.outbox.Ack;
import dev.outbox.testkit.SourceContract;
import dev.outbox.testkit.SourceFixture;
import org.junit.jupiter.api.Nested;

/** The contract whatever the database and the pool make of READ COMMITTED, and of literals. */
class IsolationIT {
    /** On the server that the test's annotation names. */
    abstract static class OnItsServer extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return new SqlServerFixture(Server.databaseOf(getClass()), Ack.KEEP);
        }
    }

    @Nested
    @OnServer(value = Server.GIVEN, variant = Server.Variant.RCSI_ON)
    class ReadingByVersionsOnTheServerGiven extends OnItsServer {}

    @Nested
    @OnServer(value = Server.GIVEN, variant = Server.Variant.RCSI_OFF)
    class ReadingByLocksOnTheServerGiven extends OnItsServer {}

    @Nested
    @OnServer(value = Server.GIVEN, variant = Server.Variant.SNAPSHOT)
    class WithConnectionsInSnapshotOnTheServerGiven extends OnItsServer {}

    @Nested
    @OnServer(value = Server.V2019, variant = Server.Variant.RCSI_ON)
    class ReadingByVersionsOn2019 extends OnItsServer {}

    @Nested
    @OnServer(value = Server.V2019, variant = Server.Variant.RCSI_OFF)
    class ReadingByLocksOn2019 extends OnItsServer {}

    @Nested
    @OnServer(value = Server.V2019, variant = Server.Variant.SNAPSHOT)
    class WithConnectionsInSnapshotOn2019 extends OnItsServer {}

    @Nested
    @OnServer(value = Server.V2022, variant = Server.Variant.RCSI_ON)
    class ReadingByVersionsOn2022 extends OnItsServer {}

    @Nested
    @OnServer(value = Server.V2022, variant = Server.Variant.RCSI_OFF)
    class ReadingByLocksOn2022 extends OnItsServer {}

    @Nested
    @OnServer(value = Server.V2022, variant = Server.Variant.SNAPSHOT)
    class WithConnectionsInSnapshotOn2022 extends OnItsServer {}

    @Nested
    @OnServer(value = Server.GIVEN, variant = Server.Variant.FORCED)
    class WithForcedParameterizationOnTheServerGiven extends OnItsServer {}

    @Nested
    @OnServer(value = Server.V2019, variant = Server.Variant.FORCED)
    class WithForcedParameterizationOn2019 extends OnItsServer {}

    @Nested
    @OnServer(value = Server.V2022, variant = Server.Variant.FORCED)
    class WithForcedParameterizationOn2022 extends OnItsServer {}
}
