package dev.outbox.admin;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.Outbox;
import dev.outbox.PermanentFailureException;
import dev.outbox.Receipt;
import dev.outbox.WorkItem;
import dev.outbox.admin.Diagnosis.Severity;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.jdbc.TableKind;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.PostgresInbox;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.testkit.PostgresExtension;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.sql.DataSource;

/** An outbox and an inbox with messages in all states, made so by real pollers. */
final class Tables {
    /** A machine that is busy with other tests is not one that is ill. */
    static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Other databases of a busy server may have long transactions of their own. */
    static final DoctorLimits NO_OLD_TRANSACTIONS = DoctorLimits.standard().transaction(Duration.ofDays(1));

    final DataSource dataSource;
    final Outbox outbox;
    final Inbox inbox;

    Tables(DataSource dataSource) {
        this(dataSource, "outbox", "inbox");
    }

    Tables(DataSource dataSource, String outbox, String inbox) {
        this.dataSource = dataSource;
        this.outbox = PostgresOutbox.builder(dataSource).table(outbox).build();
        this.inbox = PostgresInbox.builder(dataSource)
                .table(inbox)
                .consumer("billing")
                .build();
    }

    static PostgresExtension extension() {
        return PostgresExtension.migratedBy(dataSource -> {
            OutboxMigrations.install(dataSource);
            OutboxMigrations.installInbox(dataSource);
            OutboxMigrations.installAdmin(dataSource);
        });
    }

    Admin admin() {
        return Admin.of(dataSource).glanceTimeout(PATIENCE).build();
    }

    /** What the doctor warns of. */
    List<Diagnosis> troubles(DoctorLimits limits) {
        return admin().doctor().examine(limits).stream()
                .filter(found -> Arrays.asList(Severity.WARN, Severity.FAIL).contains(found.severity()))
                .toList();
    }

    String enqueue(Message message) {
        return inTransaction(tx -> outbox.enqueue(tx, message)).stored().get(0);
    }

    Receipt enqueue(Incoming incoming) {
        return inTransaction(tx -> inbox.enqueue(tx, incoming));
    }

    private interface Work<T> {
        T in(Connection tx) throws SQLException;
    }

    private <T> T inTransaction(Work<T> work) {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            T result = work.in(tx);
            tx.commit();
            return result;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Stores a message that nobody can deliver, and lets it die of this error. */
    ItemRef dead(Message message, String error) {
        String id = enqueue(message);
        killAll(error, OnDead.SKIP);
        return new ItemRef(TableKind.OUTBOX, id);
    }

    /** So many dead rows of an outbox, each a moment after the other. */
    void bury(int count) {
        execute("""
                INSERT INTO outbox (work_item_id, topic, payload, status, attempt_count, processed_on, last_error)
                SELECT gen_random_uuid(), 'orders', 'x', 3, 5, statement_timestamp() - (? - n) * interval '1 second', 'e'
                FROM generate_series(1, ?) AS n
                """, count, count);
    }

    /** Everything that is due dies of this error. */
    void killAll(String error, OnDead onDead) {
        int claimed;
        do {
            claimed = outbox.poller()
                    .onDead(onDead)
                    .to(item -> fail(error))
                    .build()
                    .pollOnce();
        } while (claimed > 0);
    }

    ItemRef dead(Incoming incoming, String error) {
        enqueue(incoming);
        inbox.poller().inTransaction((tx, item) -> fail(error)).build().pollOnce();
        return new ItemRef(
                TableKind.INBOX,
                value("SELECT work_item_id FROM inbox WHERE status = 3 AND message_id = ?", incoming.messageId()));
    }

    private static void fail(String error) {
        throw new PermanentFailureException(error);
    }

    /** Everything that is due fails, and is tried again in an hour. */
    void failAll(String error) {
        RetryPolicy later = RetryPolicy.standard().maxDelay(Duration.ofHours(2)).baseDelay(Duration.ofHours(1));
        outbox.poller()
                .retry(later)
                .to(item -> {
                    throw new IllegalStateException(error);
                })
                .build()
                .pollOnce();
    }

    /** Delivers everything that is due, in the order it comes. */
    List<WorkItem> deliver() {
        List<WorkItem> delivered = new ArrayList<>();
        int claimed;
        do {
            claimed = outbox.poller().to(delivered::add).build().pollOnce();
        } while (claimed > 0);
        return delivered;
    }

    int execute(String sql, Object... parameters) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = prepare(connection, sql, parameters)) {
            return statement.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    String value(String sql, Object... parameters) {
        List<String> rows = rows(sql, parameters);
        return rows.isEmpty() ? null : rows.get(0);
    }

    /** Each row as text, its columns separated by a bar. */
    List<String> rows(String sql, Object... parameters) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = prepare(connection, sql, parameters);
                ResultSet rows = statement.executeQuery()) {
            List<String> all = new ArrayList<>();
            while (rows.next()) {
                List<String> columns = new ArrayList<>();
                for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                    columns.add(rows.getString(i));
                }
                all.add(String.join("|", columns.stream().map(String::valueOf).toList()));
            }
            return all;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static PreparedStatement prepare(Connection connection, String sql, Object... parameters)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < parameters.length; i++) {
            statement.setObject(i + 1, parameters[i]);
        }
        return statement;
    }
}
