/** The outbox and the inbox on SQL Server: start at {@link dev.outbox.sqlserver.SqlServerOutbox}. */
@NullMarked
package dev.outbox.sqlserver;

import org.jspecify.annotations.NullMarked;
