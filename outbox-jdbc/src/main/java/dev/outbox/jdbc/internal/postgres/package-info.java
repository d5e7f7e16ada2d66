/**
 * What the module of PostgreSQL and the tools of operators share, so that neither needs the other one. Not API: anything here may
 * change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.postgres;

import org.jspecify.annotations.NullMarked;
