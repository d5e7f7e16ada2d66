/** The statements for operators on SQL Server, and the doctor's checks there. Not API. */
@NullMarked
package dev.outbox.admin.internal.sqlserver;

import org.jspecify.annotations.NullMarked;
