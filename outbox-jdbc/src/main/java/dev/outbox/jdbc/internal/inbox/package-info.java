/**
 * How an inbox receives messages: it tells first arrivals from duplicates and conflicts. And single records of an inbox. Not API: anything here may
 * change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.inbox;

import org.jspecify.annotations.NullMarked;
