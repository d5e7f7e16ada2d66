/**
 * What the module of SQL Server and the tools of operators share, so that neither needs the other one. Not API: anything here may
 * change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.sqlserver;

import org.jspecify.annotations.NullMarked;
