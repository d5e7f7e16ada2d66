package dev.outbox.cli;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.admin.Diagnosis;
import dev.outbox.admin.Diagnosis.Severity;
import dev.outbox.admin.DoctorLimits;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "doctor",
        description = "Looks for known causes of trouble and says what to do; exit code 1 if a finding needs a person.")
final class DoctorCommand extends TableCommand {
    @Option(names = "--all", description = "Show also what is as it should be.")
    private boolean all;

    @Option(
            names = "--retention",
            paramLabel = "<time>",
            description = "How long Done items are meant to be kept. Default: 31d.")
    private @Nullable Duration retention;

    DoctorCommand(Environment environment) {
        super(environment);
    }

    @Override
    int run(HikariDataSource dataSource) {
        List<Diagnosis> found = admin(dataSource)
                .doctor()
                .examine(
                        retention == null
                                ? DoctorLimits.standard()
                                : DoctorLimits.standard().retention(retention));
        found.stream().filter(this::isShown).forEach(this::print);
        long bad = found.stream().filter(DoctorCommand::isBad).count();
        output().say(found.size() + " checks, " + bad + " need a person");
        return bad == 0 ? ExitCode.OK : ExitCode.FAILED;
    }

    private static boolean isBad(Diagnosis diagnosis) {
        return diagnosis.severity() == Severity.WARN || diagnosis.severity() == Severity.FAIL;
    }

    private boolean isShown(Diagnosis diagnosis) {
        return all || diagnosis.severity() != Severity.OK;
    }

    private void print(Diagnosis diagnosis) {
        output().json(diagnosis);
        Style style = switch (diagnosis.severity()) {
            case OK -> Style.GREEN;
            case NOTE, SKIPPED -> Style.DIM;
            case WARN -> Style.YELLOW;
            case FAIL -> Style.RED;
        };
        output().say(output().styled(style, String.format("%-8s", diagnosis.severity())) + diagnosis.check() + ": "
                + Words.forOperators(diagnosis.what()));
        say("evidence", diagnosis.evidence());
        say("advice", diagnosis.advice());
    }

    private void say(String what, String text) {
        if (!text.isEmpty()) {
            output().say("        " + what + ": " + Words.forOperators(text));
        }
    }
}
