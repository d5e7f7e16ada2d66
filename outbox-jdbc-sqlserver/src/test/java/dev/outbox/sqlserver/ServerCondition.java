package dev.outbox.sqlserver;

import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Skips what has no server, and what it cannot do, with the reason. */
final class ServerCondition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        OnServer on = context.getTestClass()
                .flatMap(test -> AnnotationSupport.findAnnotation(test, OnServer.class))
                .orElseThrow();
        Optional<String> reason = on.value()
                .obstacle(on.variant())
                .or(() -> names(context)
                        .flatMap(name -> on.value().gap(on.variant(), name).stream())
                        .findFirst());
        return reason.map(ConditionEvaluationResult::disabled)
                .orElseGet(() -> ConditionEvaluationResult.enabled("there"));
    }

    private static Stream<String> names(ExtensionContext context) {
        String name = context.getRequiredTestClass().getSimpleName();
        return context.getTestMethod()
                .map(method -> Stream.of(method.getName(), name + "." + method.getName()))
                .orElseGet(() -> Stream.of(name));
    }
}
