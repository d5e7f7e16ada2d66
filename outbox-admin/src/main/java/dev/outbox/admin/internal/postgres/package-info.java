/** What operators ask and do, in the statements of PostgreSQL, and what the doctor checks there. Not API. */
@NullMarked
package dev.outbox.admin.internal.postgres;

import org.jspecify.annotations.NullMarked;
