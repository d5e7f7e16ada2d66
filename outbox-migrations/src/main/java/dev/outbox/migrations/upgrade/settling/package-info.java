/** The Flyway location of the step between phases 3 and 4 in which names settle, where a table needs it. */
@NullMarked
package dev.outbox.migrations.upgrade.settling;

import org.jspecify.annotations.NullMarked;
