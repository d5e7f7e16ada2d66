package dev.outbox.jdbc.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SqlTest {
    /** What was bound, by position. */
    private final TreeMap<Integer, Object> bound = new TreeMap<>();

    private Query query(String sql) throws SQLException {
        PreparedStatement statement = (PreparedStatement) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {PreparedStatement.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("setObject")) {
                        bound.put((Integer) arguments[0], String.valueOf(arguments[1]));
                    }
                    return method.getReturnType() == boolean.class ? false : null;
                });
        Connection connection = (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> method.getName().equals("prepareStatement") ? statement : null);
        return Sql.parse(sql).on(connection);
    }

    @Test
    void namesBecomeQuestionMarks() {
        assertThat(Sql.parse("WHERE a = :first AND b = :second_one").text()).isEqualTo("WHERE a = ? AND b = ?");
    }

    @Test
    void castsStayAndMayFollowAName() {
        assertThat(Sql.parse("SELECT :ids::uuid[], now()::date, '1'::text").text())
                .isEqualTo("SELECT ?::uuid[], now()::date, '1'::text");
    }

    @Test
    void commentsGoWithTheirNamesAndQuestionMarks() {
        assertThat(Sql.parse("SELECT 1 -- not :this, nor ? or it's\nWHERE a = :a")
                        .text())
                .isEqualTo("SELECT 1 \nWHERE a = ?");
        assertThat(Sql.parse("SELECT 1 -- :end").text()).isEqualTo("SELECT 1 ");
    }

    @Test
    void aNameIsBoundWhereverItStands() throws SQLException {
        query("SELECT :a, :b, :a, :c, :a").set("a", "x").set("b", "y").set("c", (Object) null);

        assertThat(bound).isEqualTo(new TreeMap<>(Map.of(1, "x", 2, "y", 3, "x", 4, "null", 5, "x")));
    }

    @Test
    void aNameThatBeginsLikeAnotherIsAnother() throws SQLException {
        query("SELECT :turn, :turn_other").set("turn", 1).set("turn_other", 2);

        assertThat(bound).isEqualTo(new TreeMap<>(Map.of(1, "1", 2, "2")));
    }

    @Test
    void durationsAreBoundInMicroseconds() throws SQLException {
        query("SELECT :a, :b, :c")
                .set("a", Duration.ofMillis(1_500).plusNanos(1_999))
                .set("b", (Duration) null)
                .set("c", Duration.ofDays(36_500));

        assertThat(bound).isEqualTo(new TreeMap<>(Map.of(1, "1500001", 2, "null", 3, "3153600000000000")));
    }

    @Test
    void anUnknownNameIsRefused() throws SQLException {
        Query query = query("SELECT :a");

        assertThatThrownBy(() -> query.set("b", 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the statement has no parameter :b");
    }

    @Test
    void aSettingOfAnotherDriverIsSkipped() throws SQLException {
        query("SELECT 1").where(Runnable.class, statement -> {
            throw new AssertionError("it is no Runnable");
        });
    }
}
