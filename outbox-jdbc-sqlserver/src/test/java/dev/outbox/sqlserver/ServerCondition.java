package dev.outbox.sqlserver;

import java.lang.reflect.Method;
import java.util.Optional;
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
        Optional<String> reason =
                on.value().obstacle(on.variant()).or(() -> on.value().gap(on.variant(), name(context)));
        return reason.map(ConditionEvaluationResult::disabled)
                .orElseGet(() -> ConditionEvaluationResult.enabled("there"));
    }

    private static String name(ExtensionContext context) {
        return context.getTestMethod()
                .map(Method::getName)
                .orElseGet(() -> context.getRequiredTestClass().getSimpleName());
    }
}
