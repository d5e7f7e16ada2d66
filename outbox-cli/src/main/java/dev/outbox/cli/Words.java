package dev.outbox.cli;

import java.util.LinkedHashMap;
import java.util.Map;

/** The library's errors and advice name methods; an operator has commands. */
final class Words {
    private static final Map<String, String> COMMANDS = new LinkedHashMap<>();

    static {
        COMMANDS.put("OutboxMigrations.installAdmin(...)", "outbox migrate apply --admin");
        COMMANDS.put("OutboxMigrations.installLookup(...)", "outbox migrate apply --lookup");
        COMMANDS.put("OutboxMigrations.install(...)", "outbox migrate apply --install");
        COMMANDS.put("OutboxMigrations.render(...)", "outbox migrate render --install");
        COMMANDS.put("Upgrade.report(...)", "outbox migrate status");
        COMMANDS.put("apply outbox-migrations", "create them with outbox migrate apply --install");
        COMMANDS.put("outbox(...) and inbox(...)", "--outbox and --inbox");
        COMMANDS.put("olderThan must be at least maxRedelivery", "--older-than must be at least --max-redelivery");
        COMMANDS.put("set maxRedelivery(...)", "set --max-redelivery");
        COMMANDS.put("Admin.purge(...)", "outbox purge");
        COMMANDS.put("with outbox(...)", "with --outbox");
        COMMANDS.put("with inbox(...)", "with --inbox");
    }

    private Words() {}

    /** Fit to be printed: no secret, nothing that steers a terminal, and commands instead of methods. */
    static String forOperators(String text) {
        String told = TextTable.printable(Secrets.masked(text));
        for (Map.Entry<String, String> command : COMMANDS.entrySet()) {
            told = told.replace(command.getKey(), command.getValue());
        }
        return told;
    }
}
