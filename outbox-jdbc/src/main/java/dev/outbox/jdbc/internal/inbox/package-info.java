/**
 * How messages are received: duplicates told from first arrivals, and single records of an inbox. Not API: anything here may
 * change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.inbox;

import org.jspecify.annotations.NullMarked;
