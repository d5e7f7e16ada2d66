/**
 * The migrations of PostgreSQL: what is found about a table, and the statements that lead it from phase to phase. Classes that
 * implement an interface of the package above are named after the database, all others after their subject. Not API.
 */
@NullMarked
package dev.outbox.migrations.internal.postgres;

import org.jspecify.annotations.NullMarked;
