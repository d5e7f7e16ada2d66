package dev.outbox.cli;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.admin.ActionResult;
import dev.outbox.admin.Admin;
import dev.outbox.admin.DeadLetters;
import dev.outbox.admin.Discard;
import dev.outbox.admin.Item;
import dev.outbox.admin.ItemDetail;
import dev.outbox.admin.ItemPage;
import dev.outbox.admin.ItemRef;
import dev.outbox.admin.Requeue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code outbox dead …}: items that were given up. */
final class DeadCommands {
    private DeadCommands() {}

    @Command(name = "dead", description = "Lists, shows, requeues and discards dead items.")
    static final class Group {}

    /** A page for scripts; {@code next} is null at the end. */
    record Listed(List<Item> items, @Nullable String next) {}

    @Command(name = "list", description = "Dead items of outbox and inbox, the newest first.")
    static final class ListDead extends TableCommand {
        @Mixin
        private final DeadFilterOptions filter = new DeadFilterOptions();

        @Mixin
        private final PageOptions page = new PageOptions();

        ListDead(Environment environment) {
            super(environment);
        }

        @Override
        int run(HikariDataSource dataSource) {
            ItemPage found = admin(dataSource).deadLetters().list(filter.filter(), page.page());
            page.print(output(), found, filter.areGiven() ? "no dead item matches" : "nothing is dead");
            return ExitCode.OK;
        }
    }

    @Command(name = "show", description = "One item with its headers, attempts and last error; Dead or not.")
    static final class Show extends TableCommand {
        @Parameters(paramLabel = "<item>", description = "outbox/<id> or inbox/<id>, as list shows it.")
        private String item = "";

        @Option(names = "--payload", description = "Show the payload too. It may be confidential.")
        private boolean payload;

        Show(Environment environment) {
            super(environment);
        }

        @Override
        void check() {
            ItemRef.parse(item);
        }

        @Override
        int run(HikariDataSource dataSource) {
            ItemRef ref = ItemRef.parse(item);
            DeadLetters dead = admin(dataSource).deadLetters();
            ItemDetail detail = (payload ? dead.showWithPayload(ref) : dead.show(ref))
                    .orElseThrow(() -> CliException.notFound("there is no item " + ref
                            + "; it may have been purged, discarded, or delivered and deleted: see outbox find"));
            output().json(detail);
            output().say(ItemText.detail(detail));
            if (payload) {
                output().say("");
                output().say(TextTable.printableLines(payloadOf(detail)));
            }
            return ExitCode.OK;
        }

        private static String payloadOf(ItemDetail detail) {
            String text = detail.payload();
            String base64 = detail.payloadBase64();
            return text != null ? text : base64 != null ? "base64: " + base64 : "(no payload)";
        }
    }

    /** What requeue and discard have in common: which items, who, why, and the confirmation. */
    abstract static class Action extends TableCommand {
        @Parameters(
                paramLabel = "<item>",
                arity = "0..*",
                description = "outbox/<id> or inbox/<id>, as list shows them.")
        private List<String> items = new ArrayList<>();

        @Mixin
        private final DeadFilterOptions filter = new DeadFilterOptions();

        @Option(names = "--all", description = "Every dead item of both tables.")
        private boolean all;

        @Option(
                names = "--by",
                paramLabel = "<who>",
                description = "Kept in the audit. Default: OUTBOX_ACTOR, or the login.")
        private @Nullable String actor;

        @Option(names = "--because", required = true, paramLabel = "<reason>", description = "Kept in the audit.")
        private String reason = "";

        @Mixin
        final Confirmation confirmation = new Confirmation();

        private final String command;
        private final String done;

        /**
         * @param command what it asks for, such as {@code Requeue}
         * @param done what it did, such as {@code requeued}
         */
        Action(Environment environment, String command, String done) {
            super(environment);
            this.command = command;
            this.done = done;
        }

        final String reason() {
            return reason;
        }

        final String actor() {
            String named = environment.variable("OUTBOX_ACTOR");
            return actor != null ? actor : named.isEmpty() ? System.getProperty("user.name", "unknown") : named;
        }

        @Override
        void check() {
            refs();
            int ways = (items.isEmpty() ? 0 : 1) + (filter.areGiven() ? 1 : 0) + (all ? 1 : 0);
            if (ways != 1) {
                throw CliException.usage((ways == 0 ? "which items? " : "one way to choose items, not " + ways + ": ")
                        + "name them, or give conditions such as --topic, or --all");
            }
        }

        private List<ItemRef> refs() {
            return items.stream().map(ItemRef::parse).toList();
        }

        @Override
        final int run(HikariDataSource dataSource) {
            DeadLetters dead = acting(dataSource).deadLetters();
            if (confirmation.isDryRun()) {
                return print(act(dead, true));
            }
            if (items.size() != 1) { // an operator who names one item has looked at it
                long asked = System.nanoTime();
                ActionResult would = act(dead, true);
                if (would.count() == 0) {
                    return print(would);
                }
                if (confirmation.isMissing(environment)) {
                    print(would);
                } else {
                    output().say(ItemText.table(would.first()));
                }
                confirmation.require(environment, command + " " + number(would) + "?");
                filter.before(Duration.ofNanos(System.nanoTime() - asked));
            }
            return print(act(dead, false));
        }

        private ActionResult act(DeadLetters dead, boolean dryRun) {
            return items.isEmpty() ? act(dead, filter, dryRun) : act(dead, refs(), dryRun);
        }

        /** The admin that it works with. */
        Admin acting(HikariDataSource dataSource) {
            return admin(dataSource);
        }

        abstract ActionResult act(DeadLetters dead, DeadFilterOptions filter, boolean dryRun);

        abstract ActionResult act(DeadLetters dead, List<ItemRef> refs, boolean dryRun);

        private static String number(ActionResult result) {
            return (result.atLeast() ? "at least " : "") + result.count() + (result.count() == 1 ? " item" : " items");
        }

        private int print(ActionResult result) {
            output().json(result);
            if (result.dryRun() && !result.first().isEmpty()) {
                output().say(ItemText.table(result.first()));
            }
            output().say((result.dryRun() ? "would be " : "") + done + ": " + number(result));
            result.skipped().forEach(skipped -> output().say("skipped " + skipped.ref() + ": " + skipped.reason()));
            if (result.skippedCount() > result.skipped().size()) {
                output().say("skipped: " + result.skippedCount() + " in all");
            }
            return items.isEmpty() || result.count() > 0 || result.skippedCount() == 0
                    ? ExitCode.OK
                    : ExitCode.NOT_FOUND;
        }
    }

    @Command(
            name = "requeue",
            description =
                    "Makes dead items Ready again: they keep their ids, their attempts are reset, and their keys are no longer"
                            + " blocked.")
    static final class RequeueDead extends Action {
        @Option(
                names = "--delay",
                paramLabel = "<time>",
                description = "How long from now the first is due. Default: at once.")
        private Duration delay = Duration.ZERO;

        @Option(
                names = "--rate",
                paramLabel = "<items/s>",
                description = "How many are due per second. Default: all at once.")
        private @Nullable Integer rate;

        @Option(names = "--force", description = "Also inbox items that came longer ago than the inbox remembers.")
        private boolean force;

        @Option(
                names = "--inbox-retention",
                paramLabel = "<time>",
                description = "How long the inbox remembers messages. Default: 30d, as in an inbox.")
        private @Nullable Duration inboxRetention;

        RequeueDead(Environment environment) {
            super(environment, "Requeue", "requeued");
        }

        @Override
        Admin acting(HikariDataSource dataSource) {
            return inboxRetention == null
                    ? admin(dataSource)
                    : adminOptions(dataSource).inboxRetention(inboxRetention).build();
        }

        @Override
        void check() {
            super.check();
            how(true);
        }

        private Requeue how(boolean dryRun) {
            Requeue how = Requeue.by(actor(), reason()).delay(delay);
            how = rate == null ? how : how.perSecond(rate);
            how = force ? how.force() : how;
            return dryRun ? how.asDryRun() : how;
        }

        @Override
        ActionResult act(DeadLetters dead, DeadFilterOptions filter, boolean dryRun) {
            return dead.requeue(filter.filter(), how(dryRun));
        }

        @Override
        ActionResult act(DeadLetters dead, List<ItemRef> refs, boolean dryRun) {
            return dead.requeue(refs, how(dryRun));
        }
    }

    @Command(
            name = "discard",
            description = "Discards dead items for good. The audit keeps id, topic, key and error, not the payload.")
    static final class DiscardDead extends Action {
        DiscardDead(Environment environment) {
            super(environment, "Discard", "discarded");
        }

        @Override
        void check() {
            super.check();
            how(true);
        }

        private Discard how(boolean dryRun) {
            Discard how = Discard.by(actor(), reason());
            return dryRun ? how.asDryRun() : how;
        }

        @Override
        ActionResult act(DeadLetters dead, DeadFilterOptions filter, boolean dryRun) {
            return dead.discard(filter.filter(), how(dryRun));
        }

        @Override
        ActionResult act(DeadLetters dead, List<ItemRef> refs, boolean dryRun) {
            return dead.discard(refs, how(dryRun));
        }
    }
}
