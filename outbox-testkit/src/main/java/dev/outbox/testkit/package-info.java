/**
 * Support for tests of applications, and of new sources, destinations and inboxes.
 *
 * <p>For applications: {@link dev.outbox.testkit.PostgresExtension} gives each test a PostgreSQL database without
 * Docker, {@link dev.outbox.testkit.InMemoryOutbox} an outbox without a database, {@link
 * dev.outbox.testkit.RecordingDestination} records what pollers deliver, {@link dev.outbox.testkit.OutboxAssertions}
 * checks what is stored and delivered, {@link dev.outbox.testkit.TestSql} runs your own statements, and {@link
 * dev.outbox.testkit.ForwardingOutbox} and {@link dev.outbox.testkit.ForwardingInbox} let a test make a call fail.
 *
 * <p>For adapters: {@link dev.outbox.testkit.SourceContract}, {@link dev.outbox.testkit.DestinationContract} and {@link
 * dev.outbox.testkit.InboxContract} are specifications as test classes, {@link dev.outbox.testkit.CrashPoint} makes a poller
 * fail between claim and settle, and {@link dev.outbox.testkit.InMemoryStore} gives sources without a database.
 */
@NullMarked
package dev.outbox.testkit;

import org.jspecify.annotations.NullMarked;
