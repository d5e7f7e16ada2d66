package dev.outbox.cli;

import dev.outbox.Status;
import dev.outbox.admin.BlockedKey;
import dev.outbox.admin.KnownPoller;
import dev.outbox.admin.TableStatus;
import dev.outbox.admin.Throughput;
import dev.outbox.admin.TopicCount;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The status as lines for people, which the next status can be drawn over. */
final class StatusText {
    /** Beyond this age an operator should look. */
    private static final Duration LATE = Duration.ofMinutes(5);

    private final Output output;
    private final List<String> lines = new ArrayList<>();

    private StatusText(Output output) {
        this.output = output;
    }

    static List<String> of(List<TableStatus> tables, Output output) {
        StatusText text = new StatusText(output);
        tables.forEach(text::add);
        return text.lines;
    }

    private void add(TableStatus table) {
        if (!lines.isEmpty()) {
            lines.add("");
        }
        lines.add(output.styled(Style.BOLD, table.table()) + " (" + table.kind() + ", phase " + table.phase() + ")");
        if (table.phase() < 3) {
            lines.add("  a table before phase 3 tells no more; see outbox migrate status");
            return;
        }
        long dead = table.count(Status.DEAD);
        lines.add(String.format(
                Locale.ROOT,
                "  ready %,d   processing %,d   %s   done %s%,d",
                table.count(Status.READY),
                table.count(Status.PROCESSING),
                dead == 0 ? "dead 0" : output.styled(Style.RED, String.format(Locale.ROOT, "dead %,d", dead)),
                table.doneIsAbout() ? "about " : "",
                table.count(Status.DONE)));
        lines.add("  oldest due " + table.oldestDue().map(this::age).orElse("none") + "   "
                + table.throughput().map(StatusText::throughput).orElse("no rate: nothing that was Done is kept"));
        topics(table.counts());
        blocked(table.blocked());
        pollers(table.pollers());
    }

    private String age(Duration age) {
        String text = Durations.text(age);
        return age.compareTo(LATE) > 0 ? output.styled(Style.RED, text) : text;
    }

    private static String throughput(Throughput throughput) {
        return String.format(Locale.ROOT, "%,.1f/s", throughput.perSecond()) + "   created to done: p50 "
                + text(throughput.p50()) + ", p95 " + text(throughput.p95()) + ", p99 " + text(throughput.p99());
    }

    private static String text(@Nullable Duration duration) {
        return duration == null ? "-" : Durations.text(duration);
    }

    private void topics(List<TopicCount> counts) {
        Map<String, Map<Status, Long>> byTopic = new TreeMap<>();
        Map<String, Duration> oldest = new TreeMap<>();
        for (TopicCount count : counts) {
            String topic = count.topic() == null ? "(received)" : count.topic();
            byTopic.computeIfAbsent(topic, name -> new EnumMap<>(Status.class))
                    .merge(count.status(), count.items(), Long::sum);
            if (count.oldestDue() != null) {
                oldest.merge(topic, count.oldestDue(), (a, b) -> a.compareTo(b) > 0 ? a : b);
            }
        }
        TextTable table = new TextTable("TOPIC", "READY", "PROCESSING", "DEAD", "OLDEST DUE");
        byTopic.forEach((topic, items) -> table.row(
                topic,
                items.getOrDefault(Status.READY, 0L),
                items.getOrDefault(Status.PROCESSING, 0L),
                items.getOrDefault(Status.DEAD, 0L),
                text(oldest.get(topic))));
        indented(table);
    }

    private void blocked(List<BlockedKey> blocked) {
        TextTable table = new TextTable("BLOCKED KEY", "WAITING", "BEHIND", "ATTEMPTS", "WHY");
        blocked.forEach(key -> table.row(
                key.key(),
                key.waiting(),
                key.head(),
                key.attempts(),
                (key.status() == Status.DEAD
                                ? "dead, needs requeue or discard: "
                                : "fails, tried again" + (key.dueOn() == null ? "" : " at " + key.dueOn()) + ": ")
                        + (key.error() == null ? "" : key.error())));
        indented(table);
    }

    private void pollers(List<KnownPoller> pollers) {
        TextTable table = new TextTable(
                "POLLER", "VERSION", "SILENT FOR", "LAST SUCCESS", "LEASE", "LONGEST DELIVERY", "LAST ERROR");
        pollers.forEach(poller -> table.row(
                poller.name(),
                poller.version(),
                Durations.text(poller.silentFor()),
                poller.lastSuccess(),
                Durations.text(poller.lease()),
                Durations.text(poller.longestDelivery()),
                poller.lastErrorOn() == null ? null : poller.lastErrorOn() + " " + poller.lastError()));
        indented(table);
    }

    private void indented(TextTable table) {
        if (!table.isEmpty()) {
            List<String> rows = table.lines();
            lines.add("");
            lines.add("  " + output.styled(Style.BOLD, rows.get(0)));
            rows.subList(1, rows.size()).forEach(row -> lines.add("  " + row));
        }
    }
}
