/** The outbox and the inbox in SQL Server tables. */
@NullMarked
package dev.outbox.sqlserver;

import org.jspecify.annotations.NullMarked;
