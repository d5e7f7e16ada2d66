package dev.outbox.cli;

import dev.outbox.admin.ItemPage;
import dev.outbox.admin.Page;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which page of a list, and how it is printed. */
final class PageOptions {
    @Option(
            names = "--limit",
            paramLabel = "<items>",
            description = "How many items at most, 1 to 1,000. Default: ${DEFAULT-VALUE}.")
    private int limit = 50;

    @Option(names = "--after", paramLabel = "<token>", description = "Continue where the page before ended.")
    private @Nullable String after;

    Page page() {
        return after == null ? Page.first(limit) : Page.after(after, limit);
    }

    void print(Output output, ItemPage page, String nothing) {
        String next = page.next().map(Page::token).orElse(null);
        output.json(new DeadCommands.Listed(page.items(), next));
        if (page.items().isEmpty()) {
            output.say(nothing);
            return;
        }
        output.say(ItemText.table(page.items()));
        if (next != null) {
            output.say("more: --after " + next);
        }
    }
}
