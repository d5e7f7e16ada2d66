/** The outbox and the inbox on PostgreSQL 14 to 18: start at {@link dev.outbox.postgres.PostgresOutbox}. */
@NullMarked
package dev.outbox.postgres;

import org.jspecify.annotations.NullMarked;
