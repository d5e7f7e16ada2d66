package dev.outbox.testkit;

import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The specification of {@link dev.outbox.spi.Source} as a test class: a source that passes can be given to a poller. Extend
 * it and open a fixture over the store:
 *
 * <pre>{@code
 * class MySourceTest extends SourceContract {
 *   @Override
 *   protected SourceFixture openFixture() {
 *     return new MySourceFixture();
 *   }
 * }
 * }</pre>
 *
 * <p>The tests never sleep: time passes by {@link SourceFixture#advance}. They use leases and delays of minutes, so that the
 * time that the test itself takes does not matter. Your own tests in the subclass may take a {@link SourceScenario} as a
 * parameter too; each test has a fixture of its own.
 *
 * <p>Random tests have a seed: {@code -Doutbox.test.seed=…} repeats a run, and {@code -Doutbox.full=true} draws a new seed
 * at every run. A failure names its seed.
 */
@ExtendWith(SourceScenarioResolver.class)
public abstract class SourceContract
        implements ClaimContract,
                ByteBoundContract,
                SettleContract,
                TransactionalSettleContract,
                LeaseContract,
                DueContract,
                FirstDueContract,
                TopicContract,
                KeyOrderContract,
                KeyRunContract,
                KeyTurnsContract,
                KeyBlockContract,
                PriorityContract,
                UpkeepContract,
                ConcurrencyContract,
                LockContract,
                RandomOperationsContract {
    /** A fixture over an empty store; opened before each test, closed after it. */
    protected abstract SourceFixture openFixture() throws Exception;
}
