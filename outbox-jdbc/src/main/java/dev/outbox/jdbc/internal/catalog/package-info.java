/**
 * What a table is: its name, the kind of table it has to be, the phase that its marker tells, and what a message may ask of
 * it in that phase. Statements do not belong here. Not API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.catalog;

import org.jspecify.annotations.NullMarked;
