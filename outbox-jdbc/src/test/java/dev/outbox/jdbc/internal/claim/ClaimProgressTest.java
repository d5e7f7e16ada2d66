package dev.outbox.jdbc.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.internal.claim.ClaimedRows.Topics;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** From where the claims of one poller start when the topics that they ask for change. */
class ClaimProgressTest {
    private static final Topics ALL = new Topics(Set.of(), false);

    private final AtomicLong time = new AtomicLong();
    private long startedAt;
    private final ClaimProgress.ByTopics progress = new ClaimProgress.ByTopics(
            time::get,
            new LowWaterMarks.Binding() {
                @Override
                public void ready(Query query, long[] after, long[] upTo) {
                    startedAt = after[1];
                }

                @Override
                public void due(Query query, Instant[] after, long[] afterSequences, Instant[] upTo) {}
            },
            new FreedKeys(),
            new Arrivals());

    @Test
    void aRouteThatFailsDoesNotMakeTheOthersStartAgain() throws SQLException {
        claim(ALL, 100);

        assertThat(claim(except("a"), 200)).isEqualTo(100);
        assertThat(claim(except("a", "b"), 300)).isEqualTo(200);
        assertThat(claim(except("a"), 400)).as("b was left out").isEqualTo(200);
        assertThat(claim(except("a", "b"), 0)).isEqualTo(400);
        assertThat(claim(ALL, 0)).as("a was left out").isEqualTo(100);
    }

    @Test
    void aRouteThatIsAskedForAloneStartsWhereItWasLeft() throws SQLException {
        claim(ALL, 100);
        claim(except("a"), 200);

        assertThat(claim(only("a"), 150)).isEqualTo(100);
        assertThat(claim(only("b"), 0)).isEqualTo(200);
    }

    @Test
    void topicsThatWereNeverAskedForStartAtTheStart() throws SQLException {
        claim(only("a", "b"), 100);

        assertThat(claim(only("a"), 0)).isEqualTo(100);
        assertThat(claim(only("a", "c"), 0)).isEqualTo(Long.MIN_VALUE);
        assertThat(claim(except("c"), 0)).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void topicsThatChangeAllTheTimeAreSweptNonetheless() throws SQLException {
        claim(ALL, 100);
        boolean swept = false;
        for (int i = 0; i < 30; i++) {
            time.addAndGet(Duration.ofMillis(100).toNanos());
            swept |= claim(except("topic-" + i), 0) == Long.MIN_VALUE;
        }

        assertThat(swept).isTrue();
    }

    @Test
    void coveringIsHavingAllOfTheirTopics() {
        List<Topics> some = List.of(ALL, except("a"), except("a", "b"), only("a"), only("a", "c"), only("c"));

        assertThat(some.stream().map(other -> ALL.cover(other))).containsExactly(true, true, true, true, true, true);
        assertThat(some.stream().map(other -> except("a").cover(other)))
                .containsExactly(false, true, true, false, false, true);
        assertThat(some.stream().map(other -> only("a", "c").cover(other)))
                .containsExactly(false, false, false, true, true, true);
    }

    private static Topics except(String... topics) {
        return new Topics(Set.of(topics), false);
    }

    private static Topics only(String... topics) {
        return new Topics(Set.of(topics), true);
    }

    /** A claim that takes the row of this sequence, or none; after which sequence it looked. */
    private long claim(Topics topics, long takes) throws SQLException {
        LowWaterMarks marks = progress.of(topics).marks();
        marks.walk(ClaimQueue.READY, queue -> {
            try (Query query =
                    Sql.parse(":tenth :high_share :bulk_first :normal_first").on(connection())) {
                marks.setReady(query, 10);
            }
            if (takes > 0) {
                marks.took(row(takes));
            }
            marks.end(true);
            return ClaimedRows.nothing();
        });
        return startedAt;
    }

    private static Connection connection() {
        PreparedStatement statement = proxy(PreparedStatement.class, (self, method, arguments) -> null);
        return proxy(Connection.class, (self, method, arguments) -> statement);
    }

    private static ResultSet row(long sequence) {
        return proxy(ResultSet.class, (self, method, arguments) -> switch (method.getName()) {
            case "getInt" -> 1; // normal
            case "getLong" -> sequence;
            default -> null; // it has no due time
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
