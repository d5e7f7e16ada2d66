/**
 * Ours, the hand-written limit and peers side by side, on one embedded PostgreSQL that waits for the disk.
 *
 * <pre>
 * ./mvnw -q -Pbench -pl outbox-benchmarks -am verify -Dbench=drain,latency-50 -Dbench.rounds=3
 * </pre>
 *
 * <p>{@code bench} gives the beginnings of the names of the scenarios to run; without it, all run. {@code -Dbench.smoke}
 * runs a hundredth of everything, only to check that it works. {@link dev.outbox.benchmarks.Scenarios} lists all scenarios.
 * The results are in {@code outbox-benchmarks/target}: {@code results.csv} and a chart per scenario.
 *
 * <p><b>How to read them.</b> Only figures of one scenario, or of one family ({@code bloat-…}), and of one run can be
 * compared: their contenders take turns round by round, so that a noisy machine is noisy for all of them. Read the medians
 * and the ratios ({@code x limit-keep}), not the figures alone. CPU and log per message are steadier than messages per
 * second. A warm-up round comes first and is not recorded.
 *
 * <p><b>Contenders.</b> {@code ours-…} use the public API. {@code limit-…} are hand-written loops on a table with our
 * columns and indexes; they have no keys, retries, renewals or events, and show what the database can reach. Peers are tuned
 * as their documentation says; versions and settings are printed, and so is where a peer gets fewer messages. All get the
 * same payload, destination and number of connections, and an empty database in each round, so that no contender inherits
 * what another left behind.
 *
 * <p><b>What is checked.</b> Each message must arrive once, each key in its order, and the table must be as it should in the
 * end; otherwise the run ends with code 1. A drain in which {@code limit-delete} is not five times as fast as db-scheduler
 * is void, because a slow baseline makes everything else look fast.
 *
 * <p><b>Columns.</b> {@code per_second}: messages; for drains until the last delivery, for enqueue until the last commit.
 * {@code p50_ms}, {@code p99_ms}, {@code max_ms}: from the return of the commit to the call of the destination. {@code
 * idle_per_minute}: transactions that the server counted while a poller had nothing to deliver. {@code db_cpu_us}: CPU time
 * of all server processes per message, or per minute of an idle poller, where {@code /proc} tells. {@code wal_bytes}:
 * write-ahead log per message, or per minute of an idle poller. A figure that does not apply is empty.
 */
@NullMarked
package dev.outbox.benchmarks;

import org.jspecify.annotations.NullMarked;
