package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What people run with a tool of theirs does no harm after a refusal, found out without a server. */
class RenderedScriptTest {
    private static List<String> batches(Phase to) {
        Phase from = Phase.values()[to.ordinal() - (to == Phase.CLEAN ? 2 : 1)];
        String script = Upgrade.outbox("outbox").render(UpgradeScriptTest.table(from, true), to);
        return List.of(script.split("(?m)^GO\\R"));
    }

    /** Most tools go on with the next batch, in which no transaction is open any more. */
    @ParameterizedTest
    @EnumSource(names = {"ADDITIVE", "DUAL", "FLIPPED", "CLEAN"})
    void nothingIsExecutedAfterTheFirstError(Phase phase) {
        List<String> batches = batches(phase);
        boolean together = false;
        int statements = 0;
        for (int i = 1; i < batches.size() - 2; i++) {
            String batch = batches.get(i).strip();
            if (batch.startsWith("SET LOCK_TIMEOUT") || batch.equals("COMMIT TRANSACTION;")) {
                together = batch.endsWith("BEGIN TRANSACTION;");
            } else {
                assertThat(batches.get(++i).strip())
                        .as("after " + batch)
                        .isEqualTo(
                                together
                                        ? "IF @@ERROR <> 0 OR @@TRANCOUNT = 0 SET NOEXEC ON;"
                                        : "IF @@ERROR <> 0 SET NOEXEC ON;");
                statements++;
            }
        }
        assertThat(statements).isPositive();
        assertThat(batches.get(batches.size() - 2).strip()).isEqualTo("SET NOEXEC OFF;");
        assertThat(batches.get(batches.size() - 1)).startsWith("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;");
    }

    /** sqlcmd leaves QUOTED_IDENTIFIER off, and then an index on a computed column is refused (1934). */
    @Test
    void theOptionsThatIndexesNeedComeFirst() {
        assertThat(batches(Phase.DUAL).get(0)).startsWith("SET ANSI_NULLS,").contains("QUOTED_IDENTIFIER ON;");
    }
}
