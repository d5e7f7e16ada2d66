package dev.outbox.testkit;

/** For {@link SourceContract}. */
final class SourceScenarioResolver extends FixtureResolver<SourceFixture> {
    SourceScenarioResolver() {
        super(SourceScenario.class);
    }

    @Override
    SourceFixture open(Object test) throws Exception {
        return ((SourceContract) test).openFixture();
    }

    @Override
    Object scenario(SourceFixture fixture) {
        return new SourceScenario(fixture);
    }
}
