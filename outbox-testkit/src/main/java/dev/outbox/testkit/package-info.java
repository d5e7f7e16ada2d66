/**
 * For tests of applications and of new sources: {@link dev.outbox.testkit.SourceContract} is the
 * specification of a source as a test class, {@link dev.outbox.testkit.InboxContract} that of an inbox, {@link
 * dev.outbox.testkit.InMemoryStore} a source without a
 * database, {@link dev.outbox.testkit.EmbeddedDatabase} a real PostgreSQL without Docker.
 */
@NullMarked
package dev.outbox.testkit;

import org.jspecify.annotations.NullMarked;
