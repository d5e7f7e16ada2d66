/**
 * How an inbox receives messages and distinguishes first arrivals from duplicates and conflicts, and how it works on
 * single records. Not API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.inbox;

import org.jspecify.annotations.NullMarked;
