package dev.outbox.testkit;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Opens the fixture of a {@link SourceContract} for the test that asks for it, and closes it after. */
final class SourceScenarioResolver implements ParameterResolver, AfterEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(SourceScenarioResolver.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == SourceScenario.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        SourceContract contract = (SourceContract) context.getRequiredTestInstance();
        try {
            SourceFixture fixture = contract.openFixture();
            context.getStore(NAMESPACE).put(SourceFixture.class, fixture);
            return new SourceScenario(fixture);
        } catch (Exception e) {
            throw new ParameterResolutionException("the fixture could not be opened: " + e, e);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        SourceFixture fixture = context.getStore(NAMESPACE).remove(SourceFixture.class, SourceFixture.class);
        if (fixture != null) {
            fixture.close();
        }
    }
}
