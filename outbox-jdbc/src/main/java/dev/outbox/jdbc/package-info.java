/**
 * The types that the modules of all databases share: the database, the kind of a table, and the phase of its migration.
 */
@NullMarked
package dev.outbox.jdbc;

import org.jspecify.annotations.NullMarked;
