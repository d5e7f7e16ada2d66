package dev.outbox.cli;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.admin.Admin;
import dev.outbox.admin.TableStatus;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "status",
        description =
                "How many items are ready, processing, dead and done; which are late, which keys are blocked, which pollers run.")
final class StatusCommand extends TableCommand {
    private static final String HOME = "\u001b[H";
    private static final String CLEAR_LINE = "\u001b[K";
    private static final String CLEAR_BELOW = "\u001b[J";
    private static final String CLEAR_ALL = "\u001b[2J";

    @Option(
            names = "--watch",
            arity = "0..1",
            fallbackValue = "2s",
            paramLabel = "<time>",
            description = "Repeat after this long, until interrupted. Default: ${FALLBACK-VALUE}.")
    private @Nullable Duration watch;

    @Option(names = "--times", paramLabel = "<n>", description = "With --watch: stop after this many times.")
    private int times = Integer.MAX_VALUE;

    @Option(names = "--exact", description = "Count Done items instead of estimating them, which reads all of them.")
    private boolean exact;

    StatusCommand(Environment environment) {
        super(environment);
    }

    @Override
    void check() {
        if (watch != null && watch.compareTo(Duration.ofMillis(100)) < 0) {
            throw CliException.usage("--watch must be at least 100ms, was " + Durations.text(watch));
        }
    }

    @Override
    int run(HikariDataSource dataSource) throws InterruptedException {
        Admin admin = admin(dataSource);
        if (watch == null) {
            print(look(admin));
            return ExitCode.OK;
        }
        boolean drawn = environment.terminal().isThere() && !output().isJson();
        for (int look = 1; look <= times; look++) {
            List<TableStatus> found = look(admin);
            if (drawn) {
                draw(found, look == 1);
            } else {
                print(found);
            }
            if (look < times) {
                Thread.sleep(watch.toMillis());
            }
        }
        return ExitCode.OK;
    }

    private List<TableStatus> look(Admin admin) {
        return exact ? admin.statusExactly() : admin.status();
    }

    private void print(List<TableStatus> tables) {
        tables.forEach(output()::json);
        StatusText.of(tables, output()).forEach(output()::say);
    }

    /** Draws over the text before, line by line, so that nothing flickers. */
    private void draw(List<TableStatus> tables, boolean first) {
        StringBuilder screen = new StringBuilder(first ? CLEAR_ALL : "").append(HOME);
        StatusText.of(tables, output())
                .forEach(line -> screen.append(line).append(CLEAR_LINE).append('\n'));
        output().raw(screen.append(CLEAR_BELOW).toString());
    }
}
