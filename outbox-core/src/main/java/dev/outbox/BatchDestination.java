package dev.outbox;

import java.util.List;

/**
 * A destination that is faster with many items at once, such as a broker client that sends all and then
 * awaits all.
 *
 * <p>Answers one {@link Outcome} per item, in the order of the items. An item without a verdict (a null)
 * is retried; if the list is too short or too long nobody knows whose verdict is missing, and all of them are,
 * as when the call throws. A call holds at most one item per
 * key, so that a failure can never let a later item of its key go first.
 */
@FunctionalInterface
public interface BatchDestination {
    List<Outcome> deliver(List<WorkItem> items) throws Exception;
}
