/**
 * Code that the public classes and both databases share: the steps of a script, how they are run, and the interface that
 * each database implements. Not API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.migrations.internal;

import org.jspecify.annotations.NullMarked;
