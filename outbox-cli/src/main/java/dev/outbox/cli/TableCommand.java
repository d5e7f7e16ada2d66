package dev.outbox.cli;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.admin.Admin;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A command that looks at the tables: it connects, does its work, and closes. */
abstract class TableCommand implements Callable<Integer> {
    final Environment environment;

    @Mixin
    final ConnectionOptions connection = new ConnectionOptions();

    @Option(names = "--json", description = "One JSON value per line instead of tables, for scripts.")
    private boolean json;

    private @Nullable Output output;

    TableCommand(Environment environment) {
        this.environment = environment;
    }

    @Override
    public final Integer call() throws Exception {
        check();
        try (HikariDataSource dataSource = connection.open(environment)) {
            return run(dataSource);
        }
    }

    /** Refuses what can be refused without a connection. */
    void check() {}

    /** @return the exit code */
    abstract int run(HikariDataSource dataSource) throws Exception;

    final Output output() {
        Output made = output;
        if (made == null) {
            made = output = new Output(environment, json);
        }
        return made;
    }

    final String outboxTable() {
        return connection.outboxTable(environment);
    }

    final String inboxTable() {
        return connection.inboxTable(environment);
    }

    final Admin admin(HikariDataSource dataSource) {
        return adminOptions(dataSource).build();
    }

    final Admin.Builder adminOptions(HikariDataSource dataSource) {
        return Admin.of(dataSource).outbox(outboxTable()).inbox(inboxTable());
    }
}
