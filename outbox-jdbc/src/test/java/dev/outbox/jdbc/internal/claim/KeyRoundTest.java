package dev.outbox.jdbc.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class KeyRoundTest {
    private static final int COUNT = 100;

    private final KeyRound round = new KeyRound();
    private final Map<Integer, Object> set = new HashMap<>();

    @Test
    void keysThatHadLittleMakeTheNextClaimTakeMoreOfThem() throws SQLException {
        double before = grown();

        set();
        take(heads(), 1);
        round.walked("k");
        round.end(COUNT);
        set();

        assertThat(heads()).isGreaterThan((int) before);
    }

    @Test
    void aCutDoesNotChangeWhatKeysAreExpectedToHave() throws SQLException {
        int before = grown();

        set();
        take(heads(), 1);
        round.cut(row("k", false));
        round.walked("k");
        round.end(COUNT);
        set();

        assertThat(heads()).isEqualTo(before);
    }

    @Test
    void aRoundEndsAlthoughItsLastRunsWereCut() throws SQLException {
        claim("m", false);
        claim("", false);
        set();

        assertThat(cursor()).isEmpty();
    }

    @Test
    void aRoundWhoseHeadsWereCutGoesOnAfterTheLastThatWasTaken() throws SQLException {
        claim("m", false);
        claim("p", true);
        set();
        assertThat(cursor()).isEqualTo("p");
    }

    /** The empty claim after it sees the rest of the same lap, which has found something. */
    @Test
    void aRoundWhoseFirstHeadWasCutHasNotEnded() throws SQLException {
        set();
        round.took(row("k", true));
        round.cut(row("k", true));
        round.walked("");
        assertThat(round.end(COUNT)).isFalse();
        set();
        round.walked("");

        assertThat(round.end(COUNT)).isFalse();
    }

    private void claim(String to, boolean headsCut) throws SQLException {
        set();
        take(1, 1);
        round.cut(row("k", headsCut));
        round.walked(to);
        round.end(COUNT);
    }

    /** Claims in which keys had much waiting, so that few of them filled the batch. */
    private int grown() throws SQLException {
        for (int i = 0; i < 3; i++) {
            set();
            take(heads(), COUNT / heads());
            round.walked("k");
            round.end(COUNT);
        }
        set();
        round.walked("k");
        round.end(COUNT);
        return heads();
    }

    private void take(int keys, int each) throws SQLException {
        for (int i = 0; i < keys * each; i++) {
            round.took(row("key-" + i % keys, false));
        }
    }

    private String cursor() {
        return (String) set.get(1);
    }

    private int heads() {
        return (Integer) set.get(2);
    }

    private void set() throws SQLException {
        PreparedStatement statement = proxy(PreparedStatement.class, (self, method, arguments) -> {
            if (method.getName().equals("setObject")) {
                set.put((Integer) arguments[0], arguments[1]);
            }
            return null;
        });
        Connection connection = proxy(Connection.class, (self, method, arguments) -> statement);
        try (Query query = Sql.parse(":key_cursor :heads :longest_run :urgent_heads :round_turn :probes :bulk_chance")
                .on(connection)) {
            round.set(query, COUNT);
        }
    }

    private static ResultSet row(String key, boolean headsCut) {
        return proxy(ResultSet.class, (self, method, arguments) -> switch (method.getName()) {
            case "getString" -> key;
            case "getInt" -> 2; // bulk
            case "getBoolean" -> headsCut;
            default -> throw new UnsupportedOperationException(method.getName());
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
