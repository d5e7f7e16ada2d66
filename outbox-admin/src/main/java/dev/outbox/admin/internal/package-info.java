/**
 * The parts that the calls of {@link dev.outbox.admin.Admin} need for a database: a session, a table as it was found,
 * and one interface for the statements and checks that differ. Each database implements it in a package of its own. Not
 * API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.admin.internal;

import org.jspecify.annotations.NullMarked;
