/** Not for users: what the Flyway migrations have in common. */
@NullMarked
package dev.outbox.migrations.internal;

import org.jspecify.annotations.NullMarked;
