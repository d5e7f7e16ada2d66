/**
 * The description of a table: its name, its kind, the phase that its marker states, and which features a message may
 * use in that phase. Statements do not belong here. Not API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.catalog;

import org.jspecify.annotations.NullMarked;
