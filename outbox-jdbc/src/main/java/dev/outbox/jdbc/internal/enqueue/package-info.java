/**
 * How messages are stored: a message checked and encoded as a row, and the locks that keep the order of a key. Not API:
 * anything here may change in any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.enqueue;

import org.jspecify.annotations.NullMarked;
