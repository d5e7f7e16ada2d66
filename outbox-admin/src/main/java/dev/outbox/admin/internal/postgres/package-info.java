/** The statements for operators on PostgreSQL, and the doctor's checks there. Not API. */
@NullMarked
package dev.outbox.admin.internal.postgres;

import org.jspecify.annotations.NullMarked;
