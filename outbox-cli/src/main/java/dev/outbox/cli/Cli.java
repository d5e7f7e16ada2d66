package dev.outbox.cli;

import dev.outbox.OutboxException;
import dev.outbox.admin.NoSuchTableException;
import java.io.PrintWriter;
import java.time.Duration;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;

/** The command {@code outbox}: its subcommands, and how their errors are printed. */
@Command(
        name = "outbox",
        mixinStandardHelpOptions = true,
        versionProvider = Cli.Version.class,
        scope = ScopeType.INHERIT,
        description = "Shows, repairs and migrates the tables of an outbox and an inbox.",
        synopsisSubcommandLabel = "<command>",
        footer = {"", "Exit codes: 0 ok, 1 failed or unhealthy, 2 wrong usage,", "3 not found, 4 no connection."})
final class Cli {
    private Cli() {}

    /** @return the exit code */
    static int run(Environment environment, String... args) {
        int code = commandLine(environment).execute(args);
        environment.out().flush();
        environment.err().flush();
        return code;
    }

    static CommandLine commandLine(Environment environment) {
        CommandLine line = new CommandLine(new Cli());
        line.addSubcommand(new StatusCommand(environment))
                .addSubcommand(group(
                        new DeadCommands.Group(),
                        new DeadCommands.ListDead(environment),
                        new DeadCommands.Show(environment),
                        new DeadCommands.RequeueDead(environment),
                        new DeadCommands.DiscardDead(environment)))
                .addSubcommand(new FindCommand(environment))
                .addSubcommand(new PurgeCommand(environment))
                .addSubcommand(group(
                        new MigrateCommands.Group(),
                        new MigrateCommands.Plan(environment),
                        new MigrateCommands.Apply(environment),
                        new MigrateCommands.Status(environment),
                        new MigrateCommands.Render(environment)))
                .addSubcommand(new BackfillCommand(environment))
                .addSubcommand(new VerifyCommand(environment))
                .addSubcommand(new DoctorCommand(environment));
        return line.registerConverter(Duration.class, new Durations())
                .setOut(environment.out())
                .setErr(environment.err())
                .setColorScheme(CommandLine.Help.defaultColorScheme(
                        Style.areOn(environment) ? CommandLine.Help.Ansi.ON : CommandLine.Help.Ansi.OFF))
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Cli::wrongUsage)
                .setExecutionExceptionHandler((failure, command, result) -> failed(environment.err(), failure));
    }

    private static CommandLine group(Object group, Object... commands) {
        CommandLine line = new CommandLine(group);
        for (Object command : commands) {
            line.addSubcommand(command);
        }
        return line;
    }

    private static int wrongUsage(ParameterException wrong, String[] args) {
        CommandLine command = wrong.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        command.getErr()
                .println("outbox: " + TextTable.printableLines(Secrets.masked(String.valueOf(wrong.getMessage()))));
        CommandLine.UnmatchedArgumentException.printSuggestions(wrong, command.getErr());
        command.getErr().println("Try: " + name + " --help");
        return ExitCode.USAGE;
    }

    private static int failed(PrintWriter err, Exception failure) {
        if (failure instanceof CliException known) { // our own words, without secrets
            err.println("outbox: " + TextTable.printable(String.valueOf(known.getMessage())));
            return known.exitCode();
        }
        err.println("outbox: " + Words.forOperators(String.valueOf(failure.getMessage())));
        if (failure instanceof NoSuchTableException) {
            return ExitCode.NOT_FOUND;
        }
        if (failure instanceof IllegalArgumentException) {
            return ExitCode.USAGE;
        }
        if (failure instanceof OutboxException) {
            return ExitCode.FAILED;
        }
        failure.printStackTrace(err); // a bug: a developer needs the stack trace
        return ExitCode.FAILED;
    }

    /** The version in the manifest of the jar. */
    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Cli.class.getPackage().getImplementationVersion();
            return new String[] {"outbox " + (version == null ? "(not from a jar)" : version)};
        }
    }
}
