package dev.outbox.jdbc.internal.queue;

import dev.outbox.Ack;
import dev.outbox.Outbox;
import dev.outbox.internal.Require;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Options of an outbox in a table. A user sees them as methods of the database's own builder.
 *
 * @param <B> that builder
 * @hidden
 */
@SuppressWarnings("InvalidBlockTag") // Javadoc knows @hidden on types, Error Prone does not
public abstract class OutboxOptions<B extends OutboxOptions<B>> extends TableOptions<B> {
    private Ack ack = Ack.KEEP;

    protected OutboxOptions(DataSource dataSource) {
        super(dataSource, "outbox", Duration.ofDays(7));
    }

    /** What happens to delivered rows. Default: {@link Ack#KEEP}. */
    public B ack(Ack ack) {
        this.ack = Require.present("ack", ack);
        return self();
    }

    /**
     * Looks at the table.
     *
     * @hidden
     */
    protected final Outbox open(DatabaseStatements<?> statements) {
        return new TableOutbox<>(statements, settings(ack));
    }
}
