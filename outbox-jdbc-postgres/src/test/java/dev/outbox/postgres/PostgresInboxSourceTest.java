package dev.outbox.postgres;

import dev.outbox.testkit.SourceContract;
import dev.outbox.testkit.SourceFixture;

/** The contract of a source on an inbox table that other consumers and received messages share. */
class PostgresInboxSourceTest extends SourceContract {
    @Override
    protected SourceFixture openFixture() throws Exception {
        return new PostgresInboxSourceFixture();
    }
}
