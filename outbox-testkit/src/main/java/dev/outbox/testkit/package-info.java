/**
 * For tests of applications, and of new sources, destinations and inboxes.
 *
 * <p>For applications: {@link dev.outbox.testkit.PostgresExtension} gives each test a PostgreSQL database without
 * Docker, {@link dev.outbox.testkit.InMemoryOutbox} an outbox without a database, {@link
 * dev.outbox.testkit.RecordingDestination} the other end, {@link dev.outbox.testkit.OutboxAssertions} the words to say
 * what should be there, {@link dev.outbox.testkit.TestSql} your own statements, {@link
 * dev.outbox.testkit.ForwardingOutbox} and {@link dev.outbox.testkit.ForwardingInbox} a place to break something.
 *
 * <p>For adapters: {@link dev.outbox.testkit.SourceContract}, {@link dev.outbox.testkit.DestinationContract} and {@link
 * dev.outbox.testkit.InboxContract} are specifications as test classes, {@link dev.outbox.testkit.CrashPoint} breaks
 * the way from claim to settle, {@link dev.outbox.testkit.InMemoryStore} is a source without a database.
 */
@NullMarked
package dev.outbox.testkit;

import org.jspecify.annotations.NullMarked;
