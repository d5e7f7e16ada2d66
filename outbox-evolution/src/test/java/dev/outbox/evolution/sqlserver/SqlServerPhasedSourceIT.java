package dev.outbox.evolution.sqlserver;

import dev.outbox.jdbc.Phase;
import dev.outbox.sqlserver.OnServer;
import dev.outbox.sqlserver.Server;
import dev.outbox.testkit.SourceContract;
import dev.outbox.testkit.SourceFixture;
import org.junit.jupiter.api.Nested;

/** The contract of a source on an outbox in each phase; what a phase refuses is skipped. */
class SqlServerPhasedSourceIT {
    private static SourceFixture fixture(Phase phase) {
        return new SqlServerPhasedFixture(Server.GIVEN.database(Server.Variant.AS_IT_IS), phase);
    }

    @Nested
    @OnServer(Server.GIVEN)
    class Legacy extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return fixture(Phase.LEGACY);
        }
    }

    @Nested
    @OnServer(Server.GIVEN)
    class Additive extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return fixture(Phase.ADDITIVE);
        }
    }

    @Nested
    @OnServer(Server.GIVEN)
    class Dual extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return fixture(Phase.DUAL);
        }
    }

    @Nested
    @OnServer(Server.GIVEN)
    class Flipped extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return fixture(Phase.FLIPPED);
        }
    }

    @Nested
    @OnServer(Server.GIVEN)
    class Clean extends SourceContract {
        @Override
        protected SourceFixture openFixture() {
            return fixture(Phase.CLEAN);
        }
    }
}
