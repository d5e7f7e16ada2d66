package dev.outbox.jdbc.internal.queue;

import dev.outbox.Ack;
import dev.outbox.Inbox;
import dev.outbox.Message;
import dev.outbox.OnConflict;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.internal.inbox.Redelivery;
import dev.outbox.jdbc.internal.sql.StorableText;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Options of an inbox in a table. A user sees them as methods of the database's own builder.
 *
 * @param <B> that builder
 * @hidden
 */
@SuppressWarnings("InvalidBlockTag") // Javadoc knows @hidden on types, Error Prone does not
public abstract class InboxOptions<B extends InboxOptions<B>> extends TableOptions<B> {
    private static final Duration SHORTEST_WAIT = Duration.ofMillis(1);
    private static final Duration LONGEST_WAIT = Duration.ofDays(1);

    private @Nullable String consumer;
    private OnConflict onConflict = OnConflict.THROW;
    private Duration lockTimeout = Duration.ofSeconds(10);
    private Duration maxRedelivery = Duration.ofDays(7);

    protected InboxOptions(DataSource dataSource) {
        super(dataSource, "inbox", Duration.ofDays(30));
    }

    /**
     * The name of the application that receives: all its instances use the same name, other applications use other
     * names. 1 to 255 characters, not blank. Required. An application that changes its name receives all messages again.
     */
    public B consumer(String consumer) {
        StorableText.check("consumer", Require.text("consumer", consumer, Message.MAX_NAME));
        this.consumer = consumer;
        return self();
    }

    /** How the inbox answers a different message with a known id. Default: {@link OnConflict#THROW}. */
    public B onConflict(OnConflict onConflict) {
        this.onConflict = Require.present("onConflict", onConflict);
        return self();
    }

    /**
     * How long receive and enqueue wait for another transaction that holds the same message, 1 ms to 1 day; then they
     * throw a retryable exception. It applies to each lock: a call that stores several messages may wait this long for
     * each message, and for each key. A shorter lock timeout of the caller's connection wins. Default: 10 s.
     */
    public B lockTimeout(Duration lockTimeout) {
        this.lockTimeout = Require.between("lockTimeout", lockTimeout, SHORTEST_WAIT, LONGEST_WAIT);
        return self();
    }

    /**
     * The longest time after which a message may be redelivered: the broker's retention, the longest outage, a replay by
     * hand. The {@code retention} must not be shorter. Default: 7 days.
     */
    public B maxRedelivery(Duration maxRedelivery) {
        this.maxRedelivery = Require.notNegative("maxRedelivery", maxRedelivery);
        return self();
    }

    /**
     * Looks at the table.
     *
     * @hidden
     */
    protected final Inbox open(DatabaseStatements<?> statements) {
        if (consumer == null) {
            throw new IllegalStateException("the inbox has no consumer; call consumer(...) with the name of the"
                    + " application that receives");
        }
        Redelivery redelivery = new Redelivery(maxRedelivery);
        checkRetention(redelivery);
        return new TableInbox<>(
                statements, settings(Ack.KEEP), new InboxSettings(consumer, onConflict, lockTimeout, redelivery));
    }
}
