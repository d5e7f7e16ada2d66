package dev.outbox.postgres;

import dev.outbox.testkit.InboxContract;
import dev.outbox.testkit.InboxFixture;

/** The contract of an inbox on PostgreSQL. */
class PostgresInboxIT extends InboxContract {
    @Override
    protected InboxFixture openFixture() {
        return new PostgresInboxFixture();
    }
}
