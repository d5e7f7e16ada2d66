package dev.outbox.testkit;

import dev.outbox.Inbox;
import java.sql.Connection;
import javax.sql.DataSource;

/** Where a consumer crashes. */
public enum InboxCrash {
    /** It has received the message and written its effect, but not committed. */
    BEFORE_COMMIT,
    /** It has committed, but has not acknowledged the message to the broker. */
    AFTER_COMMIT,
    /** Its poller has claimed the item and the handler has written the effect, but not committed. */
    IN_HANDLER;

    /** The exit code of a JVM that reached this point. */
    public static final int EXIT_CODE = 9;

    /**
     * Runs the consumer up to this point and halts this JVM without any clean-up. {@link InboxFixture#crash} starts the JVM
     * for it.
     */
    public void run(Inbox inbox, DataSource dataSource, String effectsTable, String messageId) throws Exception {
        if (this == IN_HANDLER) {
            InboxScenario.pollerOf(inbox)
                    .inTransaction((tx, item) -> {
                        InboxScenario.writeEffect(tx, effectsTable, item.messageId());
                        halt();
                    })
                    .build()
                    .pollOnce();
            return;
        }
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            inbox.receive(
                    tx,
                    InboxScenario.incoming(messageId),
                    effect -> InboxScenario.writeEffect(effect, effectsTable, messageId));
            if (this == AFTER_COMMIT) {
                tx.commit();
            }
            halt();
        }
    }

    private static void halt() {
        Runtime.getRuntime().halt(EXIT_CODE);
    }
}
