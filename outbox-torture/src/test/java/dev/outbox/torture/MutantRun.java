package dev.outbox.torture;

import java.nio.file.Path;

final class MutantRun {
    static boolean run(Server server, Path directory, long seed, String names) { return true; }
}
