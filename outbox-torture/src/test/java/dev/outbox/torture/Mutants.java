package dev.outbox.torture;

import dev.outbox.Enqueued;
import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.Ordering;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.Receipt;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.TransactionalSource;
import dev.outbox.spi.Unchanged;
import dev.outbox.testkit.ForwardingInbox;
import dev.outbox.testkit.ForwardingOutbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;

/**
 * The library with one thing broken, one class each. Where the thing is in a statement, the statement itself is changed
 * on its way to the database, so that all else is the library as it is.
 *
 * <p>A statement of a migration is changed in the same way.
 */
final class Mutants {
    private Mutants() {}

    static final class NoTokenCheckOnSettle implements Variant {
        @Override
        public DataSource dataSource(DataSource honest) {
            return Rewriting.each(
                    honest,
                    sql -> sql.replace(
                            "AND \"owner_token\" = ? AND \"status\" >= 1",
                            "AND (\"owner_token\" = ? OR true) AND \"status\" >= 1"));
        }
    }

    static final class FencedSettleNotReported implements Variant {
        @Override
        public TransactionalSource source(TransactionalSource honest, DataSource dataSource) {
            return new ForwardingTransactionalSource(honest) {
                @Override
                public Unchanged settle(List<Settlement> settlements) {
                    super.settle(settlements);
                    return Unchanged.NONE;
                }
            };
        }
    }

    /** Leases end by the clock of the worker that looks, not by that of the database. */
    static final class ApplicationClock implements Variant {
        @Override
        public DataSource dataSource(DataSource honest) {
            return Rewriting.each(honest, sql -> {
                String now = "'" + SkewedClock.now() + "'::timestamptz";
                return sql.replace("\"locked_until\" <= statement_timestamp()", "\"locked_until\" <= " + now);
            });
        }
    }

    /** A row that was Ready when it was looked at is taken, whatever happened to it since. */
    static final class NoStatusRecheck implements Variant {
        @Override
        public DataSource dataSource(DataSource honest) {
            return Rewriting.claimOfKeys(
                    honest,
                    sql -> sql.replaceAll(
                                    "AND \"topic\" IS NOT NULL\\s+AND \"status\" = 0 AND \\(\"due_on\"",
                                    // with some time between the look and the lock
                                    "AND \"topic\" IS NOT NULL AND (SELECT pg_sleep(0.02)) IS NOT NULL AND (\"due_on\"")
                            .replaceAll(
                                    "AND \"topic\" IS NOT NULL AND \"status\" = 0\\s+RETURNING",
                                    "AND \"topic\" IS NOT NULL RETURNING"));
        }
    }

    /** What is put off is passed, and found again when it is due: as with a mark, until a sweep begins anew. */
    static final class LowWaterMarkOnKeys implements Variant {
        @Override
        public DataSource dataSource(DataSource honest) {
            return Rewriting.claimOfKeys(
                    honest,
                    sql -> sql.replace(
                            "(\"status\" < 2 OR \"status\" = 3 AND \"blocks_key\") AND",
                            "(\"status\" = 1 OR \"status\" = 0 AND (\"due_on\" <= statement_timestamp()) IS NOT FALSE) AND"));
        }
    }

    static final class InFlightRowsIgnored implements Variant {
        @Override
        public DataSource dataSource(DataSource honest) {
            return Rewriting.claimOfKeys(honest, sql -> sql.replace("(\"status\" < 2 OR", "(\"status\" < 1 OR"));
        }
    }

    /** The head is enough: nobody looks whether later rows of the key are leased. */
    static final class NoProbeForLeasedRows implements Variant {
        @Override
        public DataSource dataSource(DataSource honest) {
            return Rewriting.claimOfKeys(
                    honest,
                    sql -> sql.replace(
                                    "ORDER BY \"message_key\", \"status\" DESC, \"sequence\"",
                                    "ORDER BY \"message_key\", \"sequence\"")
                            .replace("ORDER BY \"status\" DESC, \"sequence\"", "ORDER BY \"sequence\"")
                            .replace("'{3, 1, 0}'", "'{3, 0}'"));
        }
    }

    static final class AttemptNotCountedAtClaim implements Variant {
        @Override
        public DataSource dataSource(DataSource honest) {
            return Rewriting.each(honest, sql -> sql.replace("\"attempt_count\" + 1", "\"attempt_count\" + 0"));
        }
    }

    static final class ExpiredLeasesNeverFound implements Variant {
        @Override
        public DataSource dataSource(DataSource honest) {
            return Rewriting.each(
                    honest,
                    sql -> sql.replace("AND (\"locked_until\" <= statement_timestamp())", "AND (false) AND (true)"));
        }
    }

    static final class AckOutsideTheHandlersTransaction implements Variant {
        @Override
        public TransactionalSource source(TransactionalSource honest, DataSource dataSource) {
            return new ForwardingTransactionalSource(honest) {
                @Override
                public Set<Lease> settle(Connection tx, List<Settlement> settlements) {
                    return settle(settlements).lost();
                }
            };
        }
    }

    static final class EnqueueOutsideTheCallersTransaction implements Variant {
        @Override
        public Outbox outbox(Outbox honest, DataSource dataSource) {
            return new ForwardingOutbox(honest) {
                @Override
                public Enqueued enqueueAll(Connection tx, Collection<Message> messages) {
                    try (Connection own = dataSource.getConnection()) {
                        own.setAutoCommit(false);
                        Enqueued enqueued = super.enqueueAll(own, messages);
                        own.commit();
                        return enqueued;
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                }
            };
        }
    }

    static final class SequenceBeforeTheLock implements Variant {
        @Override
        public Ordering ordering() {
            return Ordering.RELAXED;
        }
    }

    static final class RivalAnsweredDuplicateEarly implements Variant {
        @Override
        public Inbox inbox(Inbox honest) {
            return new ForwardingInbox(honest) {
                @Override
                public Receipt receive(Connection tx, Incoming incoming) {
                    try (Statement statement = tx.createStatement()) {
                        Savepoint before = tx.setSavepoint();
                        statement.execute("SET LOCAL lock_timeout = '1ms'");
                        try {
                            return super.receive(tx, incoming);
                        } catch (OutboxException e) {
                            if (!e.isRetryable()) {
                                throw e;
                            }
                            tx.rollback(before);
                            return new Receipt(Receipt.Kind.DUPLICATE, Instant.now(), Instant.now(), 2);
                        }
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                }
            };
        }
    }

    static final class EveryReceiptIsTheFirst implements Variant {
        @Override
        public Inbox inbox(Inbox honest) {
            return new ForwardingInbox(honest) {
                @Override
                public Receipt receive(Connection tx, Incoming incoming) {
                    Receipt receipt = super.receive(tx, incoming);
                    return new Receipt(Receipt.Kind.FIRST, receipt.firstSeen(), receipt.lastSeen(), 1);
                }
            };
        }
    }

    static final class AlteredContentNotNoticed implements Variant {
        @Override
        public Inbox inbox(Inbox honest) {
            return new ForwardingInbox(honest) {
                @Override
                public Receipt receive(Connection tx, Incoming incoming) {
                    return super.receive(tx, incoming.hash(new byte[Incoming.HASH_LENGTH]));
                }
            };
        }
    }

    /**
     * A failed item is kept until it is clear whether the destination is to blame. Only items without a key, or else
     * their keys would soon be all that waits.
     */
    static final class FailuresHeldBack implements Variant {
        private static final Duration HELD = Lateness.BOUND.plusSeconds(10);

        @Override
        public TransactionalSource source(TransactionalSource honest, DataSource dataSource) {
            return new ForwardingTransactionalSource(honest) {
                private final Set<String> unkeyed = ConcurrentHashMap.newKeySet();
                private final Queue<Held> held = new ConcurrentLinkedQueue<>();

                @Override
                public Claim claim(ClaimRequest request) {
                    Claim claim = super.claim(request);
                    for (WorkItem item : claim.items()) {
                        if (item.key() == null) {
                            unkeyed.add(item.id());
                        }
                    }
                    return claim;
                }

                @Override
                public Unchanged settle(List<Settlement> settlements) {
                    List<Settlement> now = new ArrayList<>();
                    List<Lease> later = new ArrayList<>();
                    for (Settlement settlement : settlements) {
                        if (unkeyed.remove(settlement.lease().itemId()) && settlement.kind() == Settlement.Kind.RETRY) {
                            held.add(new Held(settlement, System.nanoTime() + HELD.toNanos()));
                            later.add(settlement.lease());
                        } else {
                            now.add(settlement);
                        }
                    }
                    if (!later.isEmpty()) {
                        renew(later, HELD.multipliedBy(2));
                    }
                    for (Held first = held.peek(); first != null && first.isOver(); first = held.peek()) {
                        now.add(held.remove().settlement);
                    }
                    return now.isEmpty() ? Unchanged.NONE : super.settle(now);
                }
            };
        }

        private record Held(Settlement settlement, long until) {
            boolean isOver() {
                return System.nanoTime() - until >= 0;
            }
        }
    }

    /** Claims are bounded by count only. */
    static final class ClaimsNotBoundedByBytes implements Variant {
        @Override
        public TransactionalSource source(TransactionalSource honest, DataSource dataSource) {
            return new ForwardingTransactionalSource(honest) {
                @Override
                public Claim claim(ClaimRequest request) {
                    return super.claim(request.maxBytes(Integer.MAX_VALUE));
                }
            };
        }
    }

    /** Who writes only the old columns must be careful to do it before the backfill comes by. */
    static final class NoSyncInTheDatabase implements Variant {
        @Override
        public DataSource dataSource(DataSource honest) {
            return Rewriting.each(
                    honest,
                    sql -> sql.contains("RETURNS trigger")
                            ? sql.replaceFirst("\\bBEGIN\\b", "BEGIN RETURN NEW;")
                            : sql);
        }
    }
}
