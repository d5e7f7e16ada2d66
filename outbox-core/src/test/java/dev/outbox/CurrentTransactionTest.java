package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.CurrentTransaction.Completion;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CurrentTransactionTest {
    private final RecordingOutbox outbox = new RecordingOutbox();
    private final Framework framework = new Framework();
    private final Message message = Message.to("t").id("1").payload("p");

    /** Notes what the library does with the transaction, in its order. */
    private static final class Framework implements CurrentTransaction {
        private final List<String> log = new ArrayList<>();
        private final List<Consumer<Completion>> actions = new ArrayList<>();
        private final Connection tx = (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                    throw new UnsupportedOperationException(method.getName());
                });

        @Override
        public Connection connection() {
            log.add("connection");
            return tx;
        }

        @Override
        public void release(Connection connection) {
            assertThat((Object) connection).isSameAs(tx);
            log.add("release");
        }

        @Override
        public void afterCompletion(Consumer<Completion> action) {
            log.add("afterCompletion");
            actions.add(action);
        }

        void complete(Completion completion) {
            actions.forEach(action -> action.accept(completion));
        }
    }

    @Test
    void eachCallTakesTheConnectionAndReleasesItOnce() {
        outbox.in(framework).enqueue(message);
        outbox.in(framework).enqueueAll(List.of(message));

        assertThat(framework.log)
                .containsExactly(
                        "connection", "afterCompletion", "release", "connection", "afterCompletion", "release");
    }

    @Test
    void aCallThatFailsReleasesItsConnectionAndRegistersNothing() {
        outbox.failure = new OutboxException("no", null, false);

        assertThatThrownBy(() -> outbox.in(framework).enqueue(message)).isSameAs(outbox.failure);

        assertThat(framework.log).containsExactly("connection", "release");
    }

    @Test
    void aFailureToReleaseDoesNotHideThatOfTheCall() {
        outbox.failure = new OutboxException("no", null, false);
        IllegalStateException broken = new IllegalStateException("broken");
        CurrentTransaction transaction = new CurrentTransaction() {
            @Override
            public Connection connection() {
                return framework.tx;
            }

            @Override
            public void release(Connection connection) {
                throw broken;
            }

            @Override
            public void afterCompletion(Consumer<Completion> action) {}
        };

        assertThatThrownBy(() -> outbox.in(transaction).enqueue(message))
                .isSameAs(outbox.failure)
                .hasSuppressedException(broken);

        outbox.failure = null;
        assertThatThrownBy(() -> outbox.in(transaction).enqueue(message)).isSameAs(broken);
    }

    @Test
    void aTransactionThatKeepsItsConnectionNeedsNoRelease() {
        List<Consumer<Completion>> actions = new ArrayList<>();
        BoundOutbox bound = outbox.in(new CurrentTransaction() {
            @Override
            public Connection connection() {
                return framework.tx;
            }

            @Override
            public void afterCompletion(Consumer<Completion> action) {
                actions.add(action);
            }
        });

        assertThat(bound.enqueue(message).stored()).containsExactly("1");
        assertThat(actions).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    void onlyACommitWakesThePollersAndEmptiesTheStage(Completion completion) {
        outbox.in(framework).enqueue(message);
        Stage stage = outbox.stage();
        stage.add(message);
        stage.flush(framework);

        framework.complete(completion);

        assertThat(outbox.wakeUps > 0).isEqualTo(completion == Completion.COMMITTED);
        assertThat(stage.isEmpty()).isEqualTo(completion == Completion.COMMITTED);
        assertThat(framework.log).filteredOn("release"::equals).hasSize(2);
    }

    @Test
    void anInboxReleasesItsConnectionWhateverItWasAsked() {
        IllegalStateException refused = new IllegalStateException("refused");
        Inbox inbox = (Inbox)
                Proxy.newProxyInstance(Inbox.class.getClassLoader(), new Class<?>[] {Inbox.class}, (self, m, a) -> {
                    throw refused;
                });
        BoundInbox bound = new BoundInbox(inbox, framework);
        Incoming incoming = Incoming.from("shop", "m-1").topic("t").payload("p");

        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> bound.receive(incoming),
                () -> bound.receive(incoming, tx -> {}),
                () -> bound.enqueue(incoming),
                () -> bound.enqueueAll(List.of(incoming)),
                () -> bound.markDead("shop", "m-1", "no"))) {
            framework.log.clear();
            assertThatThrownBy(call).isSameAs(refused);
            assertThat(framework.log).containsExactly("connection", "release");
        }
    }
}
