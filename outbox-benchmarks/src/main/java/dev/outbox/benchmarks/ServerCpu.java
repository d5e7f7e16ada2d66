package dev.outbox.benchmarks;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** CPU time of all processes of the PostgreSQL server, from {@code /proc}; in steps of 10 ms. */
final class ServerCpu {
    private static final Path PROC = Path.of("/proc");
    private static final long MICROS_PER_TICK = 10_000;

    /** Positions in /proc/…/stat, counted after the program name, which may contain blanks. */
    private static final int PARENT = 1;

    private static final int USER = 11;
    private static final int SYSTEM = 12;
    private static final int USER_OF_ENDED = 13;
    private static final int SYSTEM_OF_ENDED = 14;

    private final long postmaster;

    private ServerCpu(long postmaster) {
        this.postmaster = postmaster;
    }

    /** @return null where there is no /proc */
    static @Nullable ServerCpu ofParent(long backend) throws IOException {
        String[] stat = stat(PROC.resolve(Long.toString(backend)));
        return stat == null ? null : new ServerCpu(Long.parseLong(stat[PARENT]));
    }

    long micros() throws IOException {
        long ticks = 0;
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path process : processes) {
                ticks += ticks(process);
            }
        }
        return ticks * MICROS_PER_TICK;
    }

    /** The postmaster's figure includes its children that have ended; live children are counted one by one. */
    private long ticks(Path process) throws IOException {
        String[] stat = stat(process);
        if (stat == null) {
            return 0;
        }
        if (process.endsWith(Long.toString(postmaster))) {
            return number(stat, USER)
                    + number(stat, SYSTEM)
                    + number(stat, USER_OF_ENDED)
                    + number(stat, SYSTEM_OF_ENDED);
        }
        return number(stat, PARENT) == postmaster ? number(stat, USER) + number(stat, SYSTEM) : 0;
    }

    private static long number(String[] stat, int place) {
        return Long.parseLong(stat[place]);
    }

    /** @return null if the process has ended, or there is no /proc at all */
    private static String @Nullable [] stat(Path process) throws IOException {
        try {
            String stat = Files.readString(process.resolve("stat"));
            return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException e) {
            if (String.valueOf(e.getMessage()).contains("No such process")) {
                return null;
            }
            throw e;
        }
    }
}
