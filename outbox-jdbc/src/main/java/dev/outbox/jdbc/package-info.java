/** What the builders of every database have in common. */
@NullMarked
package dev.outbox.jdbc;

import org.jspecify.annotations.NullMarked;
