package dev.outbox.testkit;

import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The specification of {@link dev.outbox.Inbox} as a test class. Extend it and open a fixture over a table:
 *
 * <pre>{@code
 * class MyInboxIT extends InboxContract {
 *   @Override
 *   protected InboxFixture openFixture() {
 *     return new MyInboxFixture();
 *   }
 * }
 * }</pre>
 *
 * <p>{@link SourceContract} specifies its source. Your own tests in the subclass may take an {@link InboxScenario} as a
 * parameter too; each test has a fixture of its own.
 */
@ExtendWith(InboxScenarioResolver.class)
public abstract class InboxContract
        implements ReceiveContract,
                RecordContract,
                ConflictContract,
                HandlingContract,
                RetentionContract,
                RivalContract,
                InboxCrashContract {
    /** A fixture over an empty table; opened before each test, closed after it. */
    protected abstract InboxFixture openFixture() throws Exception;
}
