/**
 * Delivers what is stored: a {@link dev.outbox.delivery.Poller} moves work items from a source to a {@link
 * dev.outbox.delivery.Destination} and settles the outcome.
 *
 * <p>The public types are the poller, its builder, the forms of a destination and of routes by topic, the retry policy,
 * and the exceptions and outcomes by which a destination answers. The machinery of the poller is package-private. To
 * understand it, read {@code Poller}, then its threads {@code PollLoop}, {@code SettleLoop}, {@code RenewLoop} and
 * {@code PurgeLoop}, and then {@code Delivery} with one class for each form.
 */
@NullMarked
package dev.outbox.delivery;

import org.jspecify.annotations.NullMarked;
