package dev.outbox.sqlserver;

import org.junit.jupiter.api.Nested;

/** What operators ask and do, on SQL Server. */
class SqlServerAdminIT {
    @Nested
    @OnServer(Server.GIVEN)
    class OnTheServerGiven extends SqlServerOperators {
        OnTheServerGiven() {
            super(Server.GIVEN);
        }
    }

    @Nested
    @OnServer(Server.V2019)
    class On2019 extends SqlServerOperators {
        On2019() {
            super(Server.V2019);
        }
    }

    @Nested
    @OnServer(Server.V2022)
    class On2022 extends SqlServerOperators {
        On2022() {
            super(Server.V2022);
        }
    }
}
