package dev.outbox.admin;

import dev.outbox.admin.internal.AdminTable;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.TableName;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Shows operators the state of an outbox and an inbox, and lets them act on the items.
 *
 * <pre>{@code
 * Admin admin = Admin.of(dataSource).build();
 * admin.deadLetters().list(DeadFilter.all().topic("orders.placed"), Page.first(50));
 * admin.deadLetters().requeue(DeadFilter.all().error("timeout"), Requeue.by("anna", "the broker is back"));
 * }</pre>
 *
 * <p>Each call borrows one connection. Admin reads the catalog when it first needs a table, and again at each call as long as
 * the table is not canonical or the tables for operators are missing. Reading needs only the outbox and the inbox; actions also
 * need the audit table of {@code OutboxMigrations.installAdmin}. Thread-safe.
 */
public final class Admin {
    private final AdminDatabase database;
    private final DeadLetters deadLetters;
    private final Lookup lookup;
    private final Doctor doctor;
    private final Duration maxRedelivery;
    private final Duration glanceTimeout;

    private Admin(Builder options) {
        this.database = new AdminDatabase(options.dataSource, options.names());
        this.deadLetters = new DeadLetters(database, options.inboxRetention);
        this.lookup = new Lookup(database);
        this.doctor = new Doctor(database, options.clock);
        this.maxRedelivery = options.maxRedelivery;
        this.glanceTimeout = options.glanceTimeout;
    }

    /**
     * The builder of an admin for a PostgreSQL or SQL Server database. The tables are {@code outbox} and {@code inbox}
     * by default.
     */
    public static Builder of(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /** The dead letters of both tables. */
    public DeadLetters deadLetters() {
        return deadLetters;
    }

    /** Finds items of both tables. */
    public Lookup lookup() {
        return lookup;
    }

    /** The status of the tables. Done items are counted as long as that is cheap, and estimated beyond that. */
    public List<TableStatus> status() {
        return status(false);
    }

    /** {@link #status}, with Done items counted by topic, which reads all of them. */
    public List<TableStatus> statusExactly() {
        return status(true);
    }

    private List<TableStatus> status(boolean exactly) {
        return database.run("read the status", (session, tables) -> {
            List<TableStatus> all = new ArrayList<>();
            for (AdminTable table : tables.all()) {
                all.add(new StatusTable(session, table).status(exactly));
            }
            return all;
        });
    }

    /**
     * Removes items that have been Done for longer than this, in batches, as a poller's own purge does: after each batch it
     * rests nine times as long as the batch took. Interrupting the thread stops the purge after the batch under way; the
     * result says how many items were removed, and the thread stays interrupted.
     *
     * @param dryRun whether to count only
     * @throws IllegalArgumentException for an inbox, if {@code olderThan} is shorter than {@link Builder#maxRedelivery}
     */
    public PurgeResult purge(TableKind kind, Duration olderThan, boolean dryRun) {
        Require.notNegative("olderThan", olderThan);
        if (kind == TableKind.INBOX && olderThan.compareTo(maxRedelivery) < 0) {
            throw new IllegalArgumentException("olderThan must be at least maxRedelivery, " + maxRedelivery + ", was "
                    + olderThan + ": a message that is redelivered after its record was purged would have its effect"
                    + " twice; set maxRedelivery(...) to the longest time after which your broker may redeliver one");
        }
        return database.run("purge the " + kind, (session, tables) -> {
            PurgeTable purge = new PurgeTable(session, tables.of(kind).ready());
            return dryRun ? purge.count(olderThan) : purge.purge(olderThan);
        });
    }

    /**
     * The backlog of a table, for a gauge; much cheaper than {@link #status}.
     *
     * @throws dev.outbox.OutboxException if the database refuses, or a statement takes longer than {@link
     *     Builder#glanceTimeout}
     */
    public Backlog backlog(TableKind kind) {
        return database.run(
                "read the backlog",
                glanceTimeout,
                (session, tables) -> new StatusTable(session, tables.of(kind)).backlog(Backlog.MOST));
    }

    /** {@link #health(HealthLimits)} with {@link HealthLimits#standard()}. */
    public Health health() {
        return health(HealthLimits.standard());
    }

    /**
     * Whether messages flow. Never throws, stays cheap however large the tables are, and waits for each of its
     * statements at most {@link Builder#glanceTimeout}.
     */
    public Health health(HealthLimits limits) {
        Require.present("limits", limits);
        try {
            return database.run("check the health", glanceTimeout, (session, tables) -> {
                List<String> complaints = new ArrayList<>();
                for (AdminTable table : tables.all()) {
                    complaints.addAll(new HealthTable(session, table).complaints(limits));
                }
                return Health.of(complaints);
            });
        } catch (RuntimeException e) {
            return new Health(Health.State.DOWN, List.of(String.valueOf(e.getMessage())));
        }
    }

    /** Looks for known causes of trouble in production. */
    public Doctor doctor() {
        return doctor;
    }

    /** Options, each with its default. Not thread-safe. */
    public static final class Builder {
        private final DataSource dataSource;
        private @Nullable TableName outbox;
        private @Nullable TableName inbox;
        private Duration inboxRetention = Duration.ofDays(30);
        private Duration maxRedelivery = Duration.ofDays(7);
        private Duration glanceTimeout = Duration.ofSeconds(10);
        private Clock clock = Clock.systemUTC();

        private Builder(DataSource dataSource) {
            this.dataSource = Require.present("dataSource", dataSource);
        }

        /**
         * {@code name} or {@code schema.name} of the outbox table. If you name neither table, they are {@code outbox}
         * and {@code inbox}, and one of them may be missing. If you name one, it is the only one.
         */
        public Builder outbox(String table) {
            this.outbox = TableName.parse(table);
            return this;
        }

        /** {@code name} or {@code schema.name} of the inbox table. */
        public Builder inbox(String table) {
            this.inbox = TableName.parse(table);
            return this;
        }

        /**
         * How long the inbox remembers messages. Items that came longer ago are requeued only if forced. Default: 30
         * days, as in an inbox.
         */
        public Builder inboxRetention(Duration inboxRetention) {
            this.inboxRetention = Require.notNegative("inboxRetention", inboxRetention);
            return this;
        }

        /** The longest time after which a message may be redelivered to the inbox. Default: 7 days, as in an inbox. */
        public Builder maxRedelivery(Duration maxRedelivery) {
            this.maxRedelivery = Require.notNegative("maxRedelivery", maxRedelivery);
            return this;
        }

        /**
         * How long each statement of {@link Admin#backlog} and {@link Admin#health} may take, in whole seconds, rounded up.
         * Monitoring calls them often and waits for the answer. Default: 10 seconds.
         */
        public Builder glanceTimeout(Duration glanceTimeout) {
            this.glanceTimeout =
                    Require.between("glanceTimeout", glanceTimeout, Duration.ofSeconds(1), Duration.ofHours(1));
            return this;
        }

        /** The clock that the doctor compares with the database's clock, for tests. Default: the system clock. */
        public Builder clock(Clock clock) {
            this.clock = Require.present("clock", clock);
            return this;
        }

        /** Does not connect yet: the first call fails if the database cannot be reached, or a table is missing. */
        public Admin build() {
            return new Admin(this);
        }

        private Map<TableKind, TableName> names() {
            Map<TableKind, TableName> names = new EnumMap<>(TableKind.class);
            if (outbox == null && inbox == null) {
                names.put(TableKind.OUTBOX, new TableName(null, "outbox"));
                names.put(TableKind.INBOX, new TableName(null, "inbox"));
            }
            if (outbox != null) {
                names.put(TableKind.OUTBOX, outbox);
            }
            if (inbox != null) {
                names.put(TableKind.INBOX, inbox);
            }
            return names;
        }
    }
}
