package dev.outbox.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What one process saw, line by line. Each line is handed to the operating system before the process goes on, so it
 * outlives the process.
 *
 * <pre>
 * attempted TX COUNT     about to store messages TX-0 … TX-(COUNT-1) in a transaction
 * committed TX           the commit was answered
 * unknown TX             the commit was sent and nobody knows
 * rolled-back TX         the rollback was answered, or the database had refused before the commit
 * delivered ID …         handed to the consumer
 * effect ID …            effects whose commit was answered
 * altered ID …           other content under these ids, and nobody objected
 * settled ITEM TOKEN     accepted
 * fenced ITEM TOKEN
 * unsure ITEM TOKEN      about to settle, or to commit a settle, and nobody answered
 * renewed ITEM TOKEN AT  accepted; asked for at that time, in milliseconds
 * injected FAULT         what the process was told to do to itself happens now
 * overclaimed ASKED GOT  a claim that leased more than it was asked for
 * failed CLASS MESSAGE   a transaction of a producer
 * </pre>
 */
final class History implements AutoCloseable {
    private final FileChannel file;

    History(Path file) {
        try {
            this.file = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void write(String event, Object... values) {
        StringBuilder line = new StringBuilder(event);
        for (Object value : values) {
            line.append(' ').append(value);
        }
        writeLines(line.append('\n'));
    }

    void write(String event, Collection<String> values) {
        if (!values.isEmpty()) {
            write(event, values.toArray());
        }
    }

    /** Several whole lines in one go. */
    void writeLines(CharSequence lines) {
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.encode(lines.toString());
            synchronized (this) {
                while (bytes.hasRemaining()) {
                    file.write(bytes);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How a transaction ended, as far as its process knew; a later line outweighs an earlier one. */
    enum Outcome {
        ATTEMPTED,
        UNKNOWN,
        ROLLED_BACK,
        COMMITTED
    }

    /** A transaction of a producer. */
    record Transaction(int messages, Outcome outcome) {}

    /** One lease that somebody settled, or tried to. */
    record Settled(String item, String token) {}

    /** @param asked when, in milliseconds */
    record Renewed(Settled lease, long asked) {}

    /** The histories of all processes of a turn, put together. */
    record Seen(
            Map<String, Transaction> transactions,
            Set<String> effects,
            List<Settled> settled,
            List<Settled> fenced,
            Set<Settled> unsure,
            List<Renewed> renewed,
            List<String> overclaimed,
            List<String> altered,
            List<String> failed,
            Map<Fault, Integer> injected,
            AtomicLong delivered) {
        Seen() {
            this(
                    new HashMap<>(),
                    new HashSet<>(),
                    new ArrayList<>(),
                    new ArrayList<>(),
                    new HashSet<>(),
                    new ArrayList<>(),
                    new ArrayList<>(),
                    new ArrayList<>(),
                    new ArrayList<>(),
                    new EnumMap<>(Fault.class),
                    new AtomicLong());
        }

        static Seen read(List<Path> files) {
            Seen seen = new Seen();
            for (Path file : files) {
                try {
                    String text = Files.readString(file);
                    // whoever was killed may have left half a line
                    for (String line : text.substring(0, text.lastIndexOf('\n') + 1)
                            .lines()
                            .toList()) {
                        String[] words = line.split(" ");
                        switch (words[0]) {
                            case "attempted" ->
                                seen.transactions.putIfAbsent(
                                        words[1], new Transaction(Integer.parseInt(words[2]), Outcome.ATTEMPTED));
                            case "committed" -> seen.end(words[1], Outcome.COMMITTED);
                            case "unknown" -> seen.end(words[1], Outcome.UNKNOWN);
                            case "rolled-back" -> seen.end(words[1], Outcome.ROLLED_BACK);
                            case "delivered" -> seen.delivered.addAndGet(words.length - 1);
                            case "effect" -> seen.effects.addAll(List.of(words).subList(1, words.length));
                            case "settled" -> seen.settled.add(new Settled(words[1], words[2]));
                            case "fenced" -> seen.fenced.add(new Settled(words[1], words[2]));
                            case "unsure" -> seen.unsure.add(new Settled(words[1], words[2]));
                            case "renewed" ->
                                seen.renewed.add(
                                        new Renewed(new Settled(words[1], words[2]), Long.parseLong(words[3])));
                            case "injected" -> seen.injected.merge(Fault.named(words[1]), 1, Integer::sum);
                            case "overclaimed" -> seen.overclaimed.add(line);
                            case "altered" -> seen.altered.addAll(List.of(words).subList(1, words.length));
                            case "failed" -> seen.failed.add(line);
                            default -> throw new IllegalStateException(file + " has a line \"" + line + "\"");
                        }
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            return seen;
        }

        private void end(String transaction, Outcome outcome) {
            transactions.computeIfPresent(transaction, (tx, before) -> new Transaction(before.messages(), outcome));
        }
    }
}
