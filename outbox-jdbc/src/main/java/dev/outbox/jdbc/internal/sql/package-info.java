/**
 * Runs statements: named parameters, borrowed connections that go back as they came, time limits, and the conversion of
 * values. Nothing here knows what a statement is about. Not API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.sql;

import org.jspecify.annotations.NullMarked;
