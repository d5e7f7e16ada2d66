package dev.outbox.testkit;

class InMemorySourceTest extends SourceContract {
    @Override
    protected SourceFixture openFixture() {
        return new InMemoryFixture();
    }
}
