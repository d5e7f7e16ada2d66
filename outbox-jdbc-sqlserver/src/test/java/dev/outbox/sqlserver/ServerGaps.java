package dev.outbox.sqlserver;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Tests that a server without some trait of SQL Server cannot pass, each with the reason; docs/reference/sqlserver.md has
 * the same list for Babelfish. Whether a server has the trait is tried out, once. Thread-safe.
 */
public final class ServerGaps {
    public enum Trait {
        CATCHES_LOCK_TIMEOUTS(
                "a claim of keys takes them without waiting, by catching a lock timeout, which TRY does not catch here") {
            @Override
            boolean isShownBy(SqlServerDatabase database) throws SQLException {
                return refused(database, "BEGIN TRY " + WAIT + " END TRY BEGIN CATCH SELECT 1; END CATCH;") == 0;
            }
        },
        NUMBERS_LOCK_TIMEOUTS("a lock timeout has another number here than 1222") {
            @Override
            boolean isShownBy(SqlServerDatabase database) throws SQLException {
                return refused(database, WAIT) == 1222;
            }
        },
        REPEATABLE_READ("the server refuses SET TRANSACTION ISOLATION LEVEL REPEATABLE READ") {
            @Override
            boolean isShownBy(SqlServerDatabase database) throws SQLException {
                return takes(database, Connection.TRANSACTION_REPEATABLE_READ);
            }
        },
        SERIALIZABLE("the server refuses SET TRANSACTION ISOLATION LEVEL SERIALIZABLE") {
            @Override
            boolean isShownBy(SqlServerDatabase database) throws SQLException {
                return takes(database, Connection.TRANSACTION_SERIALIZABLE);
            }
        },
        READPAST("the server ignores READPAST, found by two connections and a locked row") {
            @Override
            boolean isShownBy(SqlServerDatabase database) throws SQLException {
                return refused(
                                database,
                                "DELETE p FROM contract_probe p WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK);")
                        == 0;
            }
        },
        ALTERS_COLUMNS("the server cannot make a column NOT NULL, so that no table there becomes canonical in all") {
            @Override
            boolean isShownBy(SqlServerDatabase database) throws SQLException {
                return refused(database, "ALTER TABLE contract_altered ALTER COLUMN Id int NOT NULL;") == 0;
            }
        },
        ADDS_DEFAULTS(
                "the server cannot add a tinyint with a default, so that what an old application stores lacks a status") {
            @Override
            boolean isShownBy(SqlServerDatabase database) throws SQLException {
                return refused(
                                database,
                                "ALTER TABLE contract_altered ADD Code tinyint NULL CONSTRAINT DF_contract_altered"
                                        + " DEFAULT (0);")
                        == 0;
            }
        },
        SHOWS_WAITS("the server does not show in sys.dm_exec_requests who waits for a lock") {
            @Override
            boolean isShownBy(SqlServerDatabase database) throws SQLException {
                return refused(database, LockWaits.LONGEST) == 0;
            }
        },
        /**
         * By its name, for no small statement shows it. With Sequence put out instead of the id, a bigint, all of these tests
         * pass there.
         */
        PUTS_OUT_IDS("OUTPUT puts out ids that no row has, of a table with computed columns") {
            @Override
            boolean isShownBy(SqlServerDatabase database) {
                return !database.isBabelfish();
            }
        };

        private static final String WAIT = "UPDATE contract_probe SET Id = 3;";

        private final String reason;

        Trait(String reason) {
            this.reason = reason;
        }

        abstract boolean isShownBy(SqlServerDatabase database) throws SQLException;

        /** The number of the error with which a statement ends that must not wait for a row that somebody holds; 0 if none. */
        private static int refused(SqlServerDatabase database, String statement) throws SQLException {
            database.execute("DROP TABLE IF EXISTS contract_probe");
            database.execute("CREATE TABLE contract_probe (Id int NOT NULL)");
            database.execute("INSERT INTO contract_probe (Id) VALUES (1)");
            database.execute("DROP TABLE IF EXISTS contract_altered");
            database.execute("CREATE TABLE contract_altered (Id int NULL)");
            try (Connection holder = database.pool().getConnection();
                    Connection other = database.pool().getConnection()) {
                holder.setAutoCommit(false);
                run(holder, "UPDATE contract_probe SET Id = 2;");
                run(other, "SET LOCK_TIMEOUT 100");
                try {
                    run(other, statement);
                    return 0;
                } catch (SQLException e) {
                    return e.getErrorCode();
                } finally {
                    run(other, "SET LOCK_TIMEOUT -1");
                    holder.rollback();
                    holder.setAutoCommit(true);
                }
            }
        }

        private static void run(Connection connection, String statement) throws SQLException {
            try (Statement executed = connection.createStatement()) {
                executed.execute(statement);
            }
        }

        private static boolean takes(SqlServerDatabase database, int isolation) throws SQLException {
            try (Connection connection = database.pool().getConnection()) {
                try {
                    connection.setTransactionIsolation(isolation);
                    return true;
                } catch (SQLException e) {
                    return false;
                } finally {
                    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                }
            }
        }
    }

    /** By the name of a method, if need be with that of its class, or of a class whose methods all need it. */
    private static final Map<String, Trait> NEEDS = new HashMap<>(Map.of(
            "keysStayInOrderWhenManyNodesDeliver",
            Trait.CATCHES_LOCK_TIMEOUTS,
            "noItemIsLeasedTwiceByNodesThatClaimAtTheSameMoment",
            Trait.CATCHES_LOCK_TIMEOUTS,
            "aKeyThatOthersHoldIsLeftAlone",
            Trait.CATCHES_LOCK_TIMEOUTS,
            "aRivalUnderRepeatableReadIsToldToTryAgain",
            Trait.REPEATABLE_READ,
            "aRivalUnderSerializableIsToldToTryAgain",
            Trait.SERIALIZABLE,
            "aRivalThatWaitedTooLongIsToldToTryAgainAndNotThatItIsADuplicate",
            Trait.NUMBERS_LOCK_TIMEOUTS,
            "aClaimPassesByWhatOthersHold",
            Trait.READPAST,
            "noStatementWaitsLongForALock",
            Trait.SHOWS_WAITS,
            "SqlServerInboxLiveMigrationIT.nothingIsLostAndNobodyFails",
            Trait.ADDS_DEFAULTS,
            "Clean",
            Trait.ALTERS_COLUMNS));

    static {
        NEEDS.put("whatWasClaimedByItsMessageIdIsSettledAfterTheFlip", Trait.PUTS_OUT_IDS);
        for (String phase : List.of("Additive", "Dual", "Flipped")) {
            for (String test : List.of(
                    "aRandomHistoryKeepsEveryPromise",
                    "aReleaseAfterDeliveryBeganKeepsTheAttempt",
                    "aReleaseBeforeDeliveryGivesTheAttemptBack",
                    "aRenewalAnswersTheLeasesThatAreLost",
                    "aRetriedItemIsNextWhenItsDelayIsOver",
                    "aSourceThatWasDrainedFindsWhatIsEnqueuedLater",
                    "anItemThatIsReadyIsClaimedHoweverOftenItWasTried",
                    "anItemWhoseAttemptsAreUsedUpBecomesDeadAndIsReported",
                    "oneSettleTakesAnyMixOfOutcomesAndTokens",
                    "theSecondSettleOfALeaseIsFenced")) {
                NEEDS.put(phase + "." + test, Trait.PUTS_OUT_IDS);
            }
        }
    }

    private final Map<Trait, Boolean> shown = new EnumMap<>(Trait.class);

    /** Why this test cannot pass on the server of this database. */
    synchronized Optional<String> of(String test, SqlServerDatabase database) {
        return Optional.ofNullable(NEEDS.get(test))
                .filter(trait -> !has(trait, database))
                .map(trait -> trait.reason);
    }

    synchronized boolean has(Trait trait, SqlServerDatabase database) {
        return shown.computeIfAbsent(trait, asked -> isShown(asked, database));
    }

    private static boolean isShown(Trait trait, SqlServerDatabase database) {
        try {
            return trait.isShownBy(database);
        } catch (SQLException e) {
            throw new IllegalStateException("cannot try out what the server can do", e);
        }
    }
}
