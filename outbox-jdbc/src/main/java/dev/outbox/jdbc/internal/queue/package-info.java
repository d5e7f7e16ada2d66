/**
 * An outbox and an inbox as objects, the same for every database: options, pollers and sources over a table that a migration
 * may change, wake-ups after a commit, and heartbeats. What a database adds is {@link
 * dev.outbox.jdbc.internal.queue.DatabaseStatements}. Not API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.queue;

import org.jspecify.annotations.NullMarked;
