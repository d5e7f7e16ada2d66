package dev.outbox.evolution.sqlserver;

import dev.outbox.jdbc.Phase;
import dev.outbox.sqlserver.OnServer;
import dev.outbox.sqlserver.Server;
import dev.outbox.sqlserver.SqlServerInboxContract;
import dev.outbox.testkit.InboxFixture;
import org.junit.jupiter.api.Nested;

/** The contract of an inbox in each phase; what a phase refuses is skipped. */
class SqlServerPhasedInboxIT {
    private static InboxFixture fixture(Phase phase) {
        return new SqlServerPhasedInboxFixture(Server.GIVEN.database(Server.Variant.AS_IT_IS), phase);
    }

    @Nested
    @OnServer(Server.GIVEN)
    class Legacy extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return fixture(Phase.LEGACY);
        }
    }

    @Nested
    @OnServer(Server.GIVEN)
    class Additive extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return fixture(Phase.ADDITIVE);
        }
    }

    @Nested
    @OnServer(Server.GIVEN)
    class Dual extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return fixture(Phase.DUAL);
        }
    }

    @Nested
    @OnServer(Server.GIVEN)
    class Flipped extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return fixture(Phase.FLIPPED);
        }
    }

    @Nested
    @OnServer(Server.GIVEN)
    class Clean extends SqlServerInboxContract {
        @Override
        protected InboxFixture openFixture() {
            return fixture(Phase.CLEAN);
        }
    }
}
