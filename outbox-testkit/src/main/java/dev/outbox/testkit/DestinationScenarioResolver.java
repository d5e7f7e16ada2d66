package dev.outbox.testkit;

/** For {@link DestinationContract}. */
final class DestinationScenarioResolver extends FixtureResolver<DestinationFixture> {
    DestinationScenarioResolver() {
        super(DestinationScenario.class);
    }

    @Override
    DestinationFixture open(Object test) throws Exception {
        return ((DestinationContract) test).openFixture();
    }

    @Override
    Object scenario(DestinationFixture fixture) {
        return new DestinationScenario(fixture);
    }
}
