package dev.outbox.architecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Tells which of our Maven modules a class came from, by the place it was loaded from. */
final class Modules {
    static final String CORE = "outbox-core";

    /** The published libraries: they may share {@code internal} packages, nobody else may look inside. */
    static final Set<String> LIBRARIES = Set.of(
            CORE,
            "outbox-admin",
            "outbox-jackson",
            "outbox-jdbc",
            "outbox-jdbc-postgres",
            "outbox-jdbc-sqlserver",
            "outbox-micrometer",
            "outbox-migrations",
            "outbox-opentelemetry",
            "outbox-testkit");

    /** {@code outbox-core/target/classes/} in a reactor without jars, {@code outbox-core-1.2.3.jar!} otherwise. */
    private static final Pattern LOCATION = Pattern.compile(
            "/(outbox-[a-z-]+)/target/(?:test-)?classes/|/(outbox-[a-z]+(?:-[a-z]+)*)-\\d[^/]*\\.jar!/");

    private Modules() {}

    static String of(JavaClass type) {
        String location = type.getSource()
                .orElseThrow(() -> new IllegalArgumentException(type.getName() + " was not read from a class file"))
                .getUri()
                .toString();
        return ofLocation(location);
    }

    static String ofLocation(String location) {
        Matcher matcher = LOCATION.matcher(location);
        if (!matcher.find()) {
            throw new IllegalArgumentException("no module of ours at " + location);
        }
        return matcher.group(1) != null ? matcher.group(1) : matcher.group(2);
    }

    static DescribedPredicate<JavaClass> in(String module) {
        return DescribedPredicate.describe("in " + module, type -> isOurs(type) && of(type).equals(module));
    }

    static DescribedPredicate<JavaClass> inALibrary() {
        return DescribedPredicate.describe("in a library", type -> isOurs(type) && LIBRARIES.contains(of(type)));
    }

    private static boolean isOurs(JavaClass type) {
        String name = type.getPackageName();
        return (name.equals("dev.outbox") || name.startsWith("dev.outbox."))
                && type.getSource().isPresent();
    }
}
