package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an inbox cannot be built with. */
class InboxBuilderIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private static PostgresInbox.Builder builder() {
        return PostgresInbox.builder(DATABASE.pool()).consumer("billing");
    }

    @Test
    void withoutAConsumer() {
        assertThatThrownBy(() -> PostgresInbox.builder(DATABASE.pool()).build())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the inbox has no consumer; call consumer(...) with the name of the application that"
                        + " receives");
        assertThatThrownBy(() -> builder().consumer(" "))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("consumer must not be blank");
    }

    @Test
    void withARetentionShorterThanTheLongestRedelivery() {
        assertThatThrownBy(() -> builder().retention(Duration.ofDays(6)).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("retention must be at least maxRedelivery, PT168H, was PT144H: a message that comes again"
                        + " after its record was purged would have its effect twice; set maxRedelivery(...) to the"
                        + " longest time after which your broker may send one again");
        assertThatThrownBy(() -> builder().maxRedelivery(Duration.ofDays(31)).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("retention must be at least maxRedelivery, PT744H, was PT720H");
        String table = DATABASE.newInboxTable();
        assertThat(builder()
                        .table(table)
                        .retention(Duration.ofDays(1))
                        .maxRedelivery(Duration.ofDays(1))
                        .build())
                .isNotNull();
    }

    @Test
    void withATableThatIsMissingOrAnotherOne() {
        assertThatThrownBy(() -> builder().table("nowhere").build())
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"nowhere\" not found; apply outbox-migrations (postgres) or set table(...)");
        String outbox = DATABASE.newTable();
        assertThatThrownBy(() -> builder().table(outbox).build())
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"public." + outbox
                        + "\" is an outbox table; open it with PostgresOutbox, or set table(...)");
        String inbox = DATABASE.newInboxTable();
        assertThatThrownBy(() ->
                        PostgresOutbox.builder(DATABASE.pool()).table(inbox).build())
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"public." + inbox
                        + "\" is an inbox table; open it with PostgresInbox, or set table(...)");
    }

    @Test
    void withALockTimeoutThatIsNone() {
        assertThatThrownBy(() -> builder().lockTimeout(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("lockTimeout must be between PT0.001S and PT24H, was PT0S");
    }
}
