/**
 * Which column of a table stands for which logical name, and how a statement that uses the logical names reads for that
 * table. Not API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.layout;

import org.jspecify.annotations.NullMarked;
