package dev.outbox.testkit;

/**
 * AssertJ assertions on an outbox. Import {@code assertThat} from here in addition to that of AssertJ. A failure shows the
 * rows without payloads and headers.
 */
public final class OutboxAssertions {
    private OutboxAssertions() {}

    /** Starts assertions on the items that the outbox holds now. */
    public static OutboxAssert assertThat(InMemoryOutbox outbox) {
        return new OutboxAssert(outbox, outbox.store().rowsNow());
    }

    /** Starts assertions on the rows that the table holds now. */
    public static OutboxAssert assertThat(OutboxTable outbox) {
        return new OutboxAssert(outbox, outbox.rows());
    }
}
