package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Finding.Concern;
import dev.outbox.migrations.Upgrade;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The triggers of a table on its way lend their owner's rights to no other role, and writers need no more than the table. */
class SyncRightsIT {
    private static final Upgrade OUTBOX = hasty(Upgrade.outbox("outbox"));
    private static final Upgrade INBOX = hasty(Upgrade.inbox("inbox", "billing"));
    static final List<Upgrade> UPGRADES = List.of(OUTBOX, INBOX);
    private static final Set<Phase> WITHOUT_TRIGGERS = EnumSet.of(Phase.LEGACY, Phase.CLEAN);
    private static final String DENIED = "42501";

    private final String role = "role_" + UUID.randomUUID().toString().replace("-", "");
    private Legacy legacy;

    private static Upgrade hasty(Upgrade upgrade) {
        return upgrade.refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    }

    /** Inboxes and outboxes in snake_case need the renaming; others do not. */
    @BeforeEach
    void create() throws SQLException {
        legacy = new Legacy(Spelling.SNAKE);
        legacy.run("CREATE ROLE " + role);
    }

    @AfterEach
    void drop() throws SQLException {
        legacy.run("DROP OWNED BY " + role);
        legacy.run("DROP ROLE " + role);
        legacy.close();
    }

    private void to(Phase phase) throws SQLException {
        for (Phase next : Phase.values()) {
            if (next != Phase.LEGACY && !phase.before(next)) {
                UpgradeRoute.JAVA.apply(legacy, next);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStrangerCannotUseTheTriggerFunctionsInAnyPhase(UpgradeRoute route) throws SQLException {
        for (Phase phase : Phase.values()) {
            if (phase != Phase.LEGACY) {
                route.apply(legacy, phase);
            }
            assertClosed(phase);
        }
    }

    @Test
    void aStrangerCannotUseThemOnTheWayBack() throws SQLException {
        to(Phase.FLIPPED);
        for (Phase phase : List.of(Phase.DUAL, Phase.ADDITIVE, Phase.LEGACY)) {
            UPGRADES.forEach(upgrade -> upgrade.back(legacy.dataSource(), phase));
            assertClosed(phase);
        }
    }

    @Test
    void aRoleThatIsGivenEveryNewFunctionCannotUseThem() throws SQLException {
        legacy.run("ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT EXECUTE ON FUNCTIONS TO " + role);
        to(Phase.ADDITIVE);
        assertClosed(Phase.ADDITIVE);
    }

    /** An earlier version left the function with its owner's rights, and executable by everybody. */
    @ParameterizedTest
    @CsvSource({
        "ADDITIVE, ADDITIVE",
        "ADDITIVE, DUAL",
        "DUAL, DUAL",
        "DUAL, FLIPPED",
        "FLIPPED, FLIPPED",
        "FLIPPED, RENAMING",
        "RENAMING, RENAMING",
        "RENAMING, CLEAN"
    })
    void theSameStepAndTheNextCloseWhatAnEarlierVersionLeftOpen(Phase phase, Phase step) throws SQLException {
        to(phase);
        leaveOpen();
        UpgradeRoute.JAVA.apply(legacy, step);
        assertClosed(step);
    }

    @ParameterizedTest
    @CsvSource({"FLIPPED, DUAL", "DUAL, ADDITIVE", "ADDITIVE, LEGACY"})
    void soDoesTheStepBack(Phase phase, Phase step) throws SQLException {
        to(phase);
        leaveOpen();
        UPGRADES.forEach(upgrade -> upgrade.back(legacy.dataSource(), step));
        assertClosed(step);
    }

    private void leaveOpen() throws SQLException {
        for (String table : List.of("outbox", "inbox")) {
            legacy.run("DROP TRIGGER IF EXISTS " + table + "_sync_written ON " + table);
            legacy.run("DROP TRIGGER IF EXISTS " + table + "_sync_veto ON " + table);
            legacy.run("DROP FUNCTION IF EXISTS " + table + "_old_write()");
            legacy.run("ALTER FUNCTION " + table + "_sync() SECURITY DEFINER SET search_path = pg_catalog, pg_temp");
            legacy.run("GRANT EXECUTE ON FUNCTION " + table + "_sync() TO PUBLIC");
        }
    }

    /** Whoever grants all functions of a schema does not know of these. */
    @ParameterizedTest
    @EnumSource(names = {"ADDITIVE", "DUAL", "FLIPPED", "RENAMING"})
    void evenARoleThatMayExecuteThemGainsNothing(Phase phase) throws SQLException {
        to(phase);
        legacy.run("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO " + role);
        for (String table : List.of("outbox", "inbox")) {
            for (String function : functions(table)) {
                Throwable refusal = catchThrowable(() -> attack(table, function));
                assertThat(isInvaded(table)).as(function + ": " + refusal).isFalse();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ADDITIVE", "DUAL", "FLIPPED"})
    void oldAndNewProducersNeedNothingButInsert(Phase phase) throws SQLException {
        to(phase);
        legacy.run("GRANT INSERT ON outbox, inbox TO " + role);
        asRole("INSERT INTO outbox (work_item_id, topic, payload) VALUES (gen_random_uuid(), 't', 'new')");
        asRole("INSERT INTO inbox (work_item_id, consumer, %s, %s, topic, payload) VALUES (gen_random_uuid(),"
                        .formatted(interim("source"), interim("message_id"))
                + " 'billing', 's', 'new', 't', 'new')");
        assertThat(isNoted(OUTBOX)).isFalse();
        assertThat(isNoted(INBOX)).isFalse();

        asRole("INSERT INTO outbox ([Topic], [Payload]) VALUES ('t', 'old')");
        asRole("INSERT INTO inbox ([MessageId], [Source], [Topic], [Payload]) VALUES ('old', 's', 't', 'old')");
        assertThat(isNoted(OUTBOX)).isTrue();
        assertThat(isNoted(INBOX)).isTrue();
        assertThat(legacy.rows("SELECT payload, id = work_item_id, sequence IS NOT NULL FROM outbox ORDER BY 1"))
                .containsExactly("new,t,t", "old,t,t");
        assertThat(legacy.rows("SELECT payload, [MessageId] = payload, " + interim("message_id")
                        + " = payload, work_item_id IS NOT NULL FROM inbox ORDER BY 1"))
                .containsExactly("new,t,t,t", "old,t,t,t");
    }

    @Test
    void duringTheRenamingAProducerNeedsNothingButInsert() throws SQLException {
        to(Phase.RENAMING);
        legacy.run("GRANT INSERT ON outbox, inbox TO " + role);
        for (String suffix : List.of("", "_new")) {
            asRole(
                    "INSERT INTO outbox (work_item_id, message_id%1$s, topic, payload) VALUES (gen_random_uuid(), 'm%1$s', 't', 'p')"
                            .formatted(suffix));
            asRole(
                    "INSERT INTO inbox (work_item_id, consumer, source%1$s, message_id%1$s, topic, payload) VALUES (gen_random_uuid(), 'billing', 's', 'm%1$s', 't', 'p')"
                            .formatted(suffix));
        }
        for (String table : List.of("outbox", "inbox")) {
            assertThat(legacy.rows("SELECT message_id, message_id_new FROM " + table + " ORDER BY 1"))
                    .containsExactly("m,m", "m_new,m_new");
        }
    }

    @Test
    void inPhase3AnUpdateOfOldColumnsIsRefusedAndNotedWhoeverMakesIt() throws SQLException {
        to(Phase.FLIPPED);
        legacy.run("GRANT SELECT, UPDATE ON outbox TO " + role);
        legacy.run("INSERT INTO outbox (work_item_id, topic, payload) VALUES (gen_random_uuid(), 't', 'p')");

        for (String change :
                List.of("[RetryCount] = 7", "[MessageId] = gen_random_uuid()", "[Id] = gen_random_uuid()")) {
            legacy.run("SELECT setval('outbox_old_writes', 1)");
            assertThat(isNoted(OUTBOX)).isFalse();
            assertThatThrownBy(() -> asRole("UPDATE outbox SET " + change))
                    .as(change)
                    .hasMessageContaining("table public.outbox is in phase 3: its old columns are only read")
                    .extracting("SQLState")
                    .isEqualTo("23000");
            assertThat(isNoted(OUTBOX)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ADDITIVE", "DUAL", "FLIPPED"})
    void aProducerCannotStoreARowThatNobodyMayChange(Phase phase) throws SQLException {
        to(phase);
        legacy.run("GRANT INSERT ON outbox TO " + role);
        assertThatThrownBy(() -> asRole("INSERT INTO outbox (work_item_id, topic, payload, legacy_write_on)"
                        + " VALUES (gen_random_uuid(), 't', 'p', 'infinity')"))
                .extracting("SQLState")
                .isEqualTo("23000");
    }

    /** REVOKE by another than the function's owner would be a mere warning. */
    @Test
    void aRoleThatCannotCloseAFunctionCannotTakeTheStep() throws SQLException {
        to(Phase.ADDITIVE);
        leaveOpen();
        legacy.run("GRANT CREATE ON SCHEMA public TO " + role);
        legacy.run("ALTER TABLE outbox OWNER TO " + role);
        String script = OUTBOX.render(legacy.dataSource(), Phase.DUAL);
        try (Connection connection = legacy.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION AUTHORIZATION " + role);
            assertThatThrownBy(() -> PhasesIT.run(connection, script))
                    .hasMessageContaining("must be owner of function outbox_sync")
                    .extracting("SQLState")
                    .isEqualTo(DENIED);
        }
        assertThat(OUTBOX.phase(legacy.dataSource())).isEqualTo(Phase.ADDITIVE);
    }

    @ParameterizedTest
    @EnumSource(names = {"DUAL", "FLIPPED", "RENAMING"})
    void theFunctionsBelongToTheOwnerOfTheTableWhoeverTakesTheStep(Phase phase) throws SQLException {
        to(Phase.ADDITIVE);
        leaveOpen();
        legacy.run("ALTER TABLE outbox OWNER TO " + role);
        to(phase);
        assertThat(legacy.rows("SELECT DISTINCT pg_get_userbyid(proowner) FROM pg_proc WHERE prorettype ="
                        + " 'trigger'::regtype AND starts_with(proname, 'outbox_')"))
                .containsExactly(role);
    }

    private void assertClosed(Phase phase) throws SQLException {
        for (String table : List.of("outbox", "inbox")) {
            List<String> functions = functions(table);
            assertThat(functions.isEmpty())
                    .as(table + " in " + phase + " has " + functions)
                    .isEqualTo(WITHOUT_TRIGGERS.contains(phase));
            for (String function : functions) {
                Throwable refusal = catchThrowable(() -> attack(table, function));
                assertThat(isInvaded(table)).as(function + " in " + phase).isFalse();
                assertThat(refusal)
                        .as(function + " in " + phase)
                        .hasMessageContaining("permission denied for function")
                        .extracting("SQLState")
                        .isEqualTo(DENIED);
            }
        }
    }

    private List<String> functions(String table) throws SQLException {
        return legacy.rows("SELECT oid::regprocedure FROM pg_proc WHERE prorettype = 'trigger'::regtype"
                + " AND pronamespace = 'public'::regnamespace AND starts_with(proname, '" + table + "_') ORDER BY 1");
    }

    /**
     * A role attaches the function to a table of its own. That table has the same columns, and each of their types calls a
     * function of the role when the trigger sets the column.
     */
    private void attack(String table, String function) throws SQLException {
        String columns =
                "FROM pg_attribute WHERE attrelid = '" + table + "'::regclass AND attnum > 0 AND NOT attisdropped";
        List<String> attack = new ArrayList<>();
        attack.add("SET SESSION AUTHORIZATION " + role);
        attack.add("""
                CREATE FUNCTION pg_temp.invade() RETURNS boolean LANGUAGE plpgsql AS $$
                BEGIN
                    IF current_user <> session_user THEN
                        EXECUTE format('GRANT SELECT ON public.%s TO %%I', session_user);
                    END IF;
                    RETURN true;
                END $$""".formatted(table));
        attack.addAll(legacy.rows("SELECT format('CREATE DOMAIN pg_temp.d%s AS %s CHECK (pg_temp.invade())', attnum,"
                + " format_type(atttypid, atttypmod)) " + columns));
        attack.add(
                legacy.value("SELECT format('CREATE TEMP TABLE bait (%s)', string_agg(format('%I pg_temp.d%s', attname,"
                        + " attnum), ', ')) " + columns));
        attack.add("CREATE TRIGGER bait BEFORE INSERT OR UPDATE ON bait FOR EACH ROW EXECUTE FUNCTION " + function);
        attack.add("INSERT INTO bait DEFAULT VALUES");
        attack.add("UPDATE bait SET topic = 't'");
        try (Connection connection = legacy.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : attack) {
                statement.execute(sql);
            }
        }
    }

    private boolean isInvaded(String table) throws SQLException {
        return legacy.value("SELECT has_table_privilege('" + role + "', '" + table + "', 'SELECT')")
                .equals("t");
    }

    private void asRole(String sql) throws SQLException {
        try (Connection connection = legacy.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION AUTHORIZATION " + role);
            statement.execute(Spelling.SNAKE.sql(sql));
        }
    }

    private String interim(String column) throws SQLException {
        return legacy.value("SELECT max(attname) FROM pg_attribute WHERE attrelid = 'inbox'::regclass AND attname IN ('"
                + column + "', '" + column + "_new')");
    }

    private boolean isNoted(Upgrade upgrade) {
        return upgrade.quietFor(Duration.ofHours(1)).report(legacy.dataSource()).findings().stream()
                .anyMatch(finding -> finding.concern() == Concern.OLD_WRITER);
    }
}
