package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Greetings.Hello;
import dev.outbox.internal.CollectingStage;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class StageTest {
    private final RecordingOutbox outbox = new RecordingOutbox();
    private final Stage stage = outbox.stage();

    /** Only handed on. */
    private final Connection tx = (Connection) Proxy.newProxyInstance(
            StageTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                throw new UnsupportedOperationException(method.getName());
            });

    private static Message hello(String name) {
        return Message.to("greetings").id(name).body(new Hello(name));
    }

    private static List<String> ids(List<Message> messages) {
        return messages.stream().map(Message::id).toList();
    }

    @Test
    void aMessageHasItsIdFromTheMomentItIsStaged() {
        Message staged = stage.add(Message.to("greetings").payload("Ada"));

        assertThat(UUID.fromString(staged.id()).version()).isEqualTo(7);
        assertThat(stage.add(hello("given")).id()).isEqualTo("given");
        stage.flush(tx);
        assertThat(ids(outbox.calls.get(0))).containsExactly(staged.id(), "given");
    }

    @Test
    void nothingIsSentBeforeTheFlush() {
        stage.add(hello("1"));

        assertThat(outbox.calls).isEmpty();
        assertThat(stage.isEmpty()).isFalse();
    }

    @Test
    void aFlushSendsEverythingEncodedInOrderInOneCall() {
        stage.add(hello("1"));
        stage.add(Message.to("other").id("2").payload("text"));
        stage.add(hello("3"));

        assertThat(stage.flush(tx).stored()).containsExactly("1", "2", "3");

        assertThat(outbox.calls).hasSize(1);
        assertThat(outbox.calls.get(0)).extracting(Message::payload).containsExactly("1", "text", "3");
    }

    @Test
    void aFailureInTheMiddleWritesNothingAndKeepsTheFailingOneAndTheRestStaged() {
        stage.add(hello("1"));
        stage.add(hello("2"));
        stage.add(hello(Greetings.UNSPEAKABLE));
        stage.add(hello("4"));
        stage.add(hello("5"));

        assertThatThrownBy(() -> stage.flush(tx)).hasMessage("this name cannot be encoded");

        assertThat(outbox.calls).isEmpty();
        assertThat(stage.isEmpty()).isFalse();
        assertThatThrownBy(() -> stage.flush(tx)).as("it is still there").hasMessage("this name cannot be encoded");
    }

    @Test
    void whatWasEncodedIsNotEncodedAgain() {
        List<String> encoded = new ArrayList<>();
        boolean[] broken = {true};
        Stage counting = new CollectingStage(outbox, message -> {
            if (message.payload().equals("2") && broken[0]) {
                throw new IllegalStateException("not now");
            }
            encoded.add(message.payload());
            return message;
        });
        counting.add(Message.to("t").payload("1"));
        counting.add(Message.to("t").payload("2"));
        counting.add(Message.to("t").payload("3"));

        assertThatThrownBy(() -> counting.flush(tx)).hasMessage("not now");
        broken[0] = false;
        counting.flush(tx);
        counting.flush(tx);

        assertThat(encoded).containsExactly("1", "2", "3");
        assertThat(outbox.calls).hasSize(2);
        assertThat(outbox.calls.get(0)).extracting(Message::payload).containsExactly("1", "2", "3");
    }

    @Test
    void whatIsNotKnownToBeCommittedIsSentAgain() {
        stage.add(hello("1"));
        stage.flush(tx);
        stage.add(hello("2"));
        stage.flush(tx);

        assertThat(outbox.calls).extracting(StageTest::ids).containsExactly(List.of("1"), List.of("1", "2"));
    }

    @Test
    void aFailedStatementKeepsEverythingPending() {
        outbox.failure = new OutboxException("connection lost");
        stage.add(hello("1"));

        assertThatThrownBy(() -> stage.flush(tx)).isSameAs(outbox.failure);
        stage.committed();
        outbox.failure = null;
        stage.flush(tx);

        assertThat(outbox.calls).extracting(StageTest::ids).containsExactly(List.of("1"), List.of("1"));
    }

    @Test
    void committedEmptiesTheStageAndWakesThePollers() {
        stage.add(hello("1"));
        stage.flush(tx);
        stage.committed();

        assertThat(stage.isEmpty()).isTrue();
        assertThat(outbox.wakeUps).isEqualTo(1);
    }

    @Test
    void whatWasStagedAfterTheFlushSurvivesTheCommit() {
        stage.add(hello("1"));
        stage.flush(tx);
        stage.add(hello("2"));
        stage.committed();
        stage.flush(tx);

        assertThat(ids(outbox.calls.get(1))).containsExactly("2");
    }

    @Test
    void aCommitAfterAFailedFlushForgetsNothing() {
        boolean[] broken = {true};
        Stage breaking = new CollectingStage(outbox, message -> {
            if (message.payload().equals("2") && broken[0]) {
                throw new IllegalStateException("not now");
            }
            return message;
        });
        breaking.add(Message.to("t").id("1").payload("1"));
        breaking.flush(tx); // and rolled back
        breaking.add(Message.to("t").id("2").payload("2"));
        assertThatThrownBy(() -> breaking.flush(tx)).hasMessage("not now");

        breaking.committed();

        broken[0] = false;
        breaking.flush(tx);
        assertThat(ids(outbox.calls.get(1))).containsExactly("1", "2");
    }

    @Test
    void committedTwiceOrWithoutAFlushIsHarmless() {
        stage.add(hello("1"));
        stage.committed();
        assertThat(stage.isEmpty()).isFalse();

        stage.flush(tx);
        stage.committed();
        stage.committed();
        assertThat(stage.isEmpty()).isTrue();
    }

    @Test
    void anEmptyFlushIsAllowed() {
        assertThat(stage.flush(tx).stored()).isEmpty();
    }

    @Test
    void theCurrentTransactionTellsOfItsCommit() {
        List<Consumer<CurrentTransaction.Completion>> hooks = new ArrayList<>();
        CurrentTransaction current = new CurrentTransaction() {
            @Override
            public Connection connection() {
                return tx;
            }

            @Override
            public void afterCompletion(Consumer<Completion> action) {
                hooks.add(action);
            }
        };
        stage.add(hello("1"));
        stage.flush(current);
        stage.add(hello("2"));
        stage.flush(current);
        assertThat(stage.isEmpty()).isFalse();

        hooks.forEach(hook -> hook.accept(CurrentTransaction.Completion.COMMITTED));

        assertThat(stage.isEmpty()).isTrue();
        assertThat(outbox.wakeUps).isPositive();
    }
}
