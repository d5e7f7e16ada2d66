package dev.outbox.testkit;

import dev.outbox.Status;
import java.util.Optional;

/** The contract for a store from which an item leaves when it is done. */
class DeletingSourceTest extends SourceContract {
    @Override
    protected SourceFixture openFixture() {
        return new InMemoryFixture() {
            @Override
            public Optional<ItemState> find(String itemId) {
                return super.find(itemId).filter(item -> item.status() != Status.DONE);
            }

            @Override
            public boolean keepsDone() {
                return false;
            }
        };
    }
}
