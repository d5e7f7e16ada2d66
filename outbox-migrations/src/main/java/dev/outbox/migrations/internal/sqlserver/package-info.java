/**
 * The migrations on SQL Server: the checks of a table, and the statements that take it from phase to phase. Classes that
 * implement an interface of the package above are named after the database, all others after their subject. Not API.
 */
@NullMarked
package dev.outbox.migrations.internal.sqlserver;

import org.jspecify.annotations.NullMarked;
