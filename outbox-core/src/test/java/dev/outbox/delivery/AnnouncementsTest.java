package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AnnouncementsTest {
    private final AtomicLong clock = new AtomicLong();
    private final Announcements announcements = new Announcements(clock::get);

    @Test
    void nothingIsReliedOnAtFirst() {
        assertThat(announcements.areComplete()).isFalse();
        pass(Announcements.UNANNOUNCED_COUNTS);

        assertThat(announcements.areComplete()).isTrue();
    }

    @Test
    void aWakeUpThatComesALittleLateStillAnnouncesTheItem() {
        pass(Announcements.UNANNOUNCED_COUNTS);
        announcements.foundUnannounced();
        pass(Announcements.LATE.minusNanos(1));
        assertThat(announcements.areComplete()).isTrue();
        announcements.announced();
        pass(Announcements.LATE);

        assertThat(announcements.areComplete()).isTrue();
    }

    @Test
    void anItemThatNoWakeUpAnnouncesMakesMoreOfThemExpected() {
        pass(Announcements.UNANNOUNCED_COUNTS);
        announcements.foundUnannounced();
        pass(Announcements.LATE);

        assertThat(announcements.areComplete()).isFalse();
    }

    @Test
    void twoSuchItemsCountForASecondWhateverAnnouncesTheThird() {
        pass(Announcements.UNANNOUNCED_COUNTS);
        announcements.foundUnannounced();
        announcements.foundUnannounced();
        announcements.announced();

        assertThat(announcements.areComplete()).isFalse();
        pass(Announcements.UNANNOUNCED_COUNTS.minusNanos(1));
        assertThat(announcements.areComplete()).isFalse();
        pass(Duration.ofNanos(1));
        assertThat(announcements.areComplete()).isTrue();
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }
}
