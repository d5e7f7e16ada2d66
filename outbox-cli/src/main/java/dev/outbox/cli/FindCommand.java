package dev.outbox.cli;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.admin.Item;
import dev.outbox.admin.ItemPage;
import dev.outbox.admin.Lookup;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "find",
        description =
                "Shows what happened to an order, a process or a tenant: all items of a key, a correlation id or a tenant, in"
                        + " order, including Done ones as long as they are kept.")
final class FindCommand extends TableCommand {
    @ArgGroup(multiplicity = "1")
    private final By by = new By();

    @Mixin
    private final PageOptions page = new PageOptions();

    FindCommand(Environment environment) {
        super(environment);
    }

    /** Exactly one of them is given. */
    static final class By {
        @Option(names = "--key", paramLabel = "<key>", description = "All items of this key.")
        private @Nullable String key;

        @Option(names = "--correlation", paramLabel = "<id>", description = "All items with this correlation id.")
        private @Nullable String correlation;

        @Option(names = "--tenant", paramLabel = "<tenant>", description = "All items of this tenant.")
        private @Nullable String tenant;

        @Option(names = "--id", paramLabel = "<uuid>", description = "The item with this id, in either table.")
        private @Nullable String id;
    }

    @Override
    int run(HikariDataSource dataSource) {
        ItemPage found = find(admin(dataSource).lookup());
        page.print(output(), found, "nothing found; Done items are kept only as long as the retention says");
        return found.items().isEmpty() ? ExitCode.NOT_FOUND : ExitCode.OK;
    }

    private ItemPage find(Lookup lookup) {
        if (by.key != null) {
            return lookup.byKey(by.key, page.page());
        }
        if (by.correlation != null) {
            return lookup.byCorrelation(by.correlation, page.page());
        }
        if (by.tenant != null) {
            return lookup.byTenant(by.tenant, page.page());
        }
        Optional<Item> item = lookup.byId(String.valueOf(by.id));
        return new ItemPage(item.map(List::of).orElse(List.of()), Optional.empty());
    }
}
