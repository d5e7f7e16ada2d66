package dev.outbox.testkit;

import dev.outbox.Inbox;
import java.sql.Connection;
import javax.sql.DataSource;

/** Where a consumer crashes. */
public enum InboxCrash {
    /** It has received the message and written its effect, but not committed. */
    BEFORE_COMMIT,
    /** It has committed, but the broker does not know yet. */
    AFTER_COMMIT,
    /** Its poller has claimed the item and the handler has written the effect, but not committed. */
    IN_HANDLER;

    /** The exit code of a JVM that has come as far as it should. */
    public static final int EXIT_CODE = 9;

    /** Does it, and ends this JVM on the spot: for the other JVM of {@link InboxFixture#crash}. */
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
