/**
 * The example of the README as a program: a shop, a broker that fails now and then, several pollers between them, a consumer
 * behind an unreliable network, and a check of what was promised. Start at {@link dev.outbox.quickstart.Shop}, {@link
 * dev.outbox.quickstart.Accounting} and {@link dev.outbox.quickstart.Quickstart}.
 */
@NullMarked
package dev.outbox.quickstart;

import org.jspecify.annotations.NullMarked;
