package dev.outbox.postgres;

import dev.outbox.Ack;
import dev.outbox.testkit.SourceContract;
import dev.outbox.testkit.SourceFixture;

/** The contract on PostgreSQL, delivered rows deleted. */
class PostgresDeletingSourceTest extends SourceContract {
    @Override
    protected SourceFixture openFixture() {
        return new PostgresFixture(Ack.DELETE);
    }
}
