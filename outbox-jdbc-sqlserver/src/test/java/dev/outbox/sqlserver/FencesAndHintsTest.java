package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What keeps two nodes apart in the statements, found out without a server. */
class FencesAndHintsTest {
    private static final Pattern HINTS =
            Pattern.compile("(FROM|UPDATE) \\{table}(?: \\w)? WITH \\((?:\\{by_\\w+})?([A-Z, ]+)\\)");

    @ParameterizedTest
    @ValueSource(strings = {SqlServerSettle.SETTLE, SqlServerSettle.RENEW})
    void whoeverLooksForALeasedRowNamesItsToken(String statement) {
        List<String> conditions = Pattern.compile("(?:[^\\n]*\\n){2}[^\\n]*\\{status} = 1\\b")
                .matcher(statement)
                .results()
                .map(MatchResult::group)
                .toList();

        assertThat(conditions)
                .isNotEmpty()
                .allSatisfy(condition ->
                        assertThat(condition).containsPattern("\\{owner_token} = (v\\.Token|l\\.Token|held\\.token)"));
    }

    @Test
    void aClaimOfRowsWithoutAKeyLocksWhatItPicksAndPassesByWhatOthersHold() {
        for (String statement : List.of(SqlServerClaim.READY, SqlServerClaim.WAITING, SqlServerLegacyClaim.CLAIM)) {
            assertThat(locking(statement))
                    .containsExactlyInAnyOrder(
                            "UPDATE ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK",
                            "FROM ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK");
        }
    }

    /** To pass by a row of a key would be to hand out the one behind it. */
    @Test
    void aClaimOfAKeyLocksItsHeadAndItsRunAndPassesByNothing() {
        assertThat(locking(SqlServerKeyClaim.KEYS).stream().filter(hints -> hints.contains("UPDLOCK")))
                .containsExactly(
                        "FROM ROWLOCK, UPDLOCK, READCOMMITTEDLOCK",
                        "UPDATE ROWLOCK, UPDLOCK, READCOMMITTEDLOCK",
                        "FROM ROWLOCK, UPDLOCK, READCOMMITTEDLOCK",
                        "UPDATE ROWLOCK, UPDLOCK, READCOMMITTEDLOCK");
    }

    /** The hints of what does not read without locks. */
    private static List<String> locking(String statement) {
        return HINTS.matcher(statement)
                .results()
                .map(found -> found.group(1) + " " + found.group(2))
                .filter(found -> !found.endsWith("READUNCOMMITTED"))
                .toList();
    }
}
