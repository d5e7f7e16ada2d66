/**
 * What the databases share: table names, the layout that resolves statements, connections and errors. Not
 * API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal;

import org.jspecify.annotations.NullMarked;
