package dev.outbox.delivery;

import dev.outbox.WorkItem;
import java.util.List;

/**
 * A destination that is faster with many items at once, such as a broker client that sends all of them and then waits
 * for all acknowledgements.
 *
 * <p>It returns one {@link Outcome} per item, in the order of the items. An item whose outcome is null is retried. If
 * the call throws, or the list is too short or too long, it is unknown which item is to blame: the items are called
 * again in halves, and only a call with a single item counts as an attempt. So an item may be delivered more than once.
 * A call holds at most one item per key, so that a later item of a key never overtakes one that failed.
 */
@FunctionalInterface
public interface BatchDestination {
    List<Outcome> deliver(List<WorkItem> items) throws Exception;
}
