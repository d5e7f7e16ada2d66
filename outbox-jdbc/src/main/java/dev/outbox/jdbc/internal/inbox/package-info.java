/**
 * How an inbox receives messages: it tells first arrivals from duplicates and conflicts. Single records of an inbox are read and
 * changed here too. Not API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.inbox;

import org.jspecify.annotations.NullMarked;
