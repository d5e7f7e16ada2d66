package dev.outbox.testkit;

/**
 * Assertions on an outbox in the manner of AssertJ; import {@code assertThat} from here beside that of AssertJ. Their
 * failures show the rows, without payloads and headers.
 */
public final class OutboxAssertions {
    private OutboxAssertions() {}

    /** What is in it at this moment. */
    public static OutboxAssert assertThat(InMemoryOutbox outbox) {
        return new OutboxAssert(outbox, outbox.store().rowsNow());
    }

    /** What is in it at this moment. */
    public static OutboxAssert assertThat(OutboxTable outbox) {
        return new OutboxAssert(outbox, outbox.rows());
    }
}
