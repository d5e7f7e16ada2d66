package dev.outbox.jackson;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;

/** What the tests send. */
record OrderPlaced(
        String orderId, Instant placedOn, LocalDate deliverBy, BigDecimal total, Channel channel, List<Line> lines) {
    enum Channel {
        WEB,
        PHONE
    }

    record Line(String product, int count, BigDecimal price, List<String> labels) {}

    static OrderPlaced example() {
        return new OrderPlaced(
                "o-1",
                Instant.parse("2026-03-01T12:00:00.123456789Z"),
                LocalDate.of(2026, 3, 4),
                new BigDecimal("12345678901234567890.10"),
                Channel.PHONE,
                List.of(
                        new Line("book", 2, new BigDecimal("9.90"), List.of("gift", "Zoë \uD83D\uDE00")),
                        new Line("pen", 1, new BigDecimal("1E+3"), List.of())));
    }
}
