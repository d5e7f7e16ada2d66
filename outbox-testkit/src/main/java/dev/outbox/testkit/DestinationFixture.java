package dev.outbox.testkit;

import dev.outbox.PermanentFailureException;
import dev.outbox.delivery.BatchDestination;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Outcome;
import java.util.ArrayList;
import java.util.List;

/**
 * One destination and the broker behind it, as {@link DestinationContract} sees them. Methods may throw anything; the
 * test then fails.
 */
public interface DestinationFixture extends AutoCloseable {
    /** The destination under test, the same at each call. {@link #oneByOne} makes one of a {@link Destination}. */
    BatchDestination destination() throws Exception;

    /** The message ids that have arrived at the broker, in the order of their arrival, including repetitions. */
    List<String> arrived() throws Exception;

    /** From now on the broker cannot be reached, or refuses everything. */
    void breakDown() throws Exception;

    /** The broker works again. */
    void repair() throws Exception;

    /**
     * From now on the broker refuses this one message and accepts others.
     *
     * @return false if this broker cannot be made to do so; the tests that need it are then skipped
     */
    default boolean refuse(String messageId) throws Exception {
        return false;
    }

    /** Closes the destination, if it has something to close. The contract calls this method twice. */
    void closeDestination() throws Exception;

    /** Closes what the fixture opened. Called once, after the test. */
    @Override
    void close();

    /** Calls a destination of single items as a poller does, one item after the other. */
    static BatchDestination oneByOne(Destination destination) {
        return items -> {
            List<Outcome> outcomes = new ArrayList<>();
            for (var item : items) {
                try {
                    destination.deliver(item);
                    outcomes.add(Outcome.done());
                } catch (PermanentFailureException e) {
                    outcomes.add(Outcome.dead(e));
                } catch (Exception e) {
                    outcomes.add(Outcome.retry(e));
                }
            }
            return outcomes;
        };
    }
}
