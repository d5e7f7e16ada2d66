/** What operators ask and do, in the statements of SQL Server, and what the doctor checks there. Not API. */
@NullMarked
package dev.outbox.admin.internal.sqlserver;

import org.jspecify.annotations.NullMarked;
