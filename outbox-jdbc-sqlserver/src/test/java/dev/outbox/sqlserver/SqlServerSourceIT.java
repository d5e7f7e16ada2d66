package dev.outbox.sqlserver;

import dev.outbox.Ack;
import dev.outbox.testkit.SourceContract;
import dev.outbox.testkit.SourceFixture;

class SqlServerSourceIT extends SourceContract {
    private static final SqlServerDatabase DATABASE = new SqlServerDatabase(System.getenv("OUTBOX_SQLSERVER_URL"));

    @Override
    protected SourceFixture openFixture() {
        return new SqlServerFixture(DATABASE, Ack.KEEP);
    }
}
