/**
 * What an outbox and an inbox have in common as objects: settings, sources and pollers over a table that a migration may
 * change, wake-ups after a commit, and heartbeats. Not API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.queue;

import org.jspecify.annotations.NullMarked;
