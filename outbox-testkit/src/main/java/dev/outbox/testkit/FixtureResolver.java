package dev.outbox.testkit;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Opens the fixture of a contract for the test that asks for it, and closes it after the test.
 *
 * @param <F> the fixture
 */
abstract class FixtureResolver<F extends AutoCloseable> implements ParameterResolver, AfterEachCallback {
    private final Namespace namespace = Namespace.create(getClass());
    private final Class<?> scenario;

    FixtureResolver(Class<?> scenario) {
        this.scenario = scenario;
    }

    abstract F open(Object test) throws Exception;

    abstract Object scenario(F fixture);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == scenario;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        try {
            F fixture = open(context.getRequiredTestInstance());
            context.getStore(namespace).put(AutoCloseable.class, fixture);
            return scenario(fixture);
        } catch (Exception e) {
            throw new ParameterResolutionException("the fixture could not be opened: " + e, e);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        AutoCloseable fixture = context.getStore(namespace).remove(AutoCloseable.class, AutoCloseable.class);
        if (fixture != null) {
            fixture.close();
        }
    }
}
