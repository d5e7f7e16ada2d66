package dev.outbox.testkit;

/** For {@link InboxContract}. */
final class InboxScenarioResolver extends FixtureResolver<InboxFixture> {
    InboxScenarioResolver() {
        super(InboxScenario.class);
    }

    @Override
    InboxFixture open(Object test) throws Exception {
        return ((InboxContract) test).openFixture();
    }

    @Override
    Object scenario(InboxFixture fixture) {
        return new InboxScenario(fixture);
    }
}
