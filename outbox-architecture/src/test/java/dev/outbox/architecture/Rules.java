package dev.outbox.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SliceRule;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/** The rules themselves, apart from the classes they are applied to, so that each can be shown to fail. */
final class Rules {
    private static final DescribedPredicate<JavaClass> INTERNAL = resideInAPackage("dev.outbox..internal..");

    private Rules() {}

    static ArchRule onlyLibrariesUseInternalPackages() {
        return noClasses()
                .that(not(Modules.inALibrary()).as("are not part of a library"))
                .should()
                .dependOnClassesThat(INTERNAL)
                .because("internal packages may change in any release")
                .allowEmptyShould(false);
    }

    static ArchRule publicTypesDoNotExposeInternalTypes() {
        return classes()
                .that(DescribedPredicate.describe("are public API", Rules::isApi))
                .should(notExposeInternalTypes())
                .because("a user would have to name a type that may change in any release")
                .allowEmptyShould(false);
    }

    static ArchRule dependsOnlyOnTheJdkAndSlf4j(DescribedPredicate<JavaClass> module) {
        DescribedPredicate<JavaClass> allowed =
                module.or(resideInAnyPackage("java..", "javax.sql..", "org.slf4j..", "org.jspecify.annotations.."));
        return classes()
                .that(module)
                .should()
                .onlyDependOnClassesThat(DescribedPredicate.describe(
                        allowed.getDescription(), type -> allowed.test(type.getBaseComponentType())))
                .because("every user inherits what this module depends on")
                .allowEmptyShould(false);
    }

    /** @param allowed edges that close a cycle on purpose */
    static ArchRule noPackageCycles(List<Edge> allowed) {
        SliceRule rule = slices().assignedFrom(packages()).should().beFreeOfCycles();
        for (Edge edge : allowed) {
            rule = rule.ignoreDependency(edge.from(), edge.to());
        }
        return rule.allowEmptyShould(false);
    }

    /** One class that may know another one. */
    record Edge(String from, String to) {}

    /** The packages that have classes in more than one module, with those modules. */
    static Map<String, Set<String>> packagesInSeveralModules(JavaClasses types, Function<JavaClass, String> moduleOf) {
        Map<String, Set<String>> modules = new TreeMap<>();
        types.forEach(type -> modules.computeIfAbsent(type.getPackageName(), name -> new TreeSet<>())
                .add(moduleOf.apply(type)));
        if (modules.isEmpty()) {
            throw new AssertionError("no classes to check");
        }
        modules.values().removeIf(in -> in.size() == 1);
        return modules;
    }

    private static boolean isApi(JavaClass type) {
        for (JavaClass t = type; t != null; t = t.getEnclosingClass().orElse(null)) {
            if (!t.getModifiers().contains(JavaModifier.PUBLIC)) {
                return false;
            }
        }
        return !INTERNAL.test(type);
    }

    private static ArchCondition<JavaClass> notExposeInternalTypes() {
        return new ArchCondition<>("not expose internal types") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                for (JavaMember member : type.getMembers()) {
                    for (JavaClass exposed : exposedBy(member)) {
                        events.add(new SimpleConditionEvent(
                                member,
                                !INTERNAL.test(exposed.getBaseComponentType()),
                                member.getDescription() + " exposes " + exposed.getName()));
                    }
                }
            }
        };
    }

    private static Set<JavaClass> exposedBy(JavaMember member) {
        Set<JavaClass> types = new LinkedHashSet<>();
        Set<JavaModifier> modifiers = member.getModifiers();
        boolean visible = modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
        if (!visible || modifiers.contains(JavaModifier.SYNTHETIC)) {
            return types;
        }
        if (member instanceof JavaField field) {
            types.addAll(field.getType().getAllInvolvedRawTypes());
        } else if (member instanceof JavaCodeUnit code) {
            types.addAll(code.getReturnType().getAllInvolvedRawTypes());
            code.getParameterTypes().forEach(parameter -> types.addAll(parameter.getAllInvolvedRawTypes()));
            code.getTypeParameters().forEach(parameter -> types.addAll(parameter.getAllInvolvedRawTypes()));
            types.addAll(code.getExceptionTypes());
        }
        return types;
    }

    /** One slice per package; a package named {@code internal} is one with the package around it, which shares it with other modules. */
    private static SliceAssignment packages() {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                return SliceIdentifier.of(type.getPackageName().replaceFirst("\\.internal$", ""));
            }

            @Override
            public String getDescription() {
                return "packages";
            }
        };
    }
}
