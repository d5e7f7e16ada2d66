package dev.outbox.cli;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Times as people write them. */
final class Durations implements ITypeConverter<Duration> {
    private static final Pattern SHORT = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

    /** Beyond a hundred years databases run out of time. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    @Override
    public Duration convert(String text) {
        Matcher matcher = SHORT.matcher(text);
        try {
            if (!matcher.matches()) {
                return checked(text, Duration.parse(text));
            }
            long number = Long.parseLong(matcher.group(1));
            return checked(
                    text,
                    switch (matcher.group(2)) {
                        case "ms" -> Duration.ofMillis(number);
                        case "s" -> Duration.ofSeconds(number);
                        case "m" -> Duration.ofMinutes(number);
                        case "h" -> Duration.ofHours(number);
                        default -> Duration.ofDays(number);
                    });
        } catch (DateTimeParseException e) {
            throw wrong(text);
        }
    }

    private static Duration checked(String text, Duration parsed) {
        if (parsed.isNegative() || parsed.compareTo(LONGEST) > 0) {
            throw wrong(text);
        }
        return parsed;
    }

    private static TypeConversionException wrong(String text) {
        return new TypeConversionException(
                "\"" + text + "\" is no length of time; write 90s, 15m, 2h, 7d, 500ms or PT1H30M, at most 36500d");
    }

    /** The two largest units: 3d 4h, 12m 5s, 250ms. */
    static String text(Duration duration) {
        if (duration.compareTo(Duration.ofSeconds(1)) < 0) {
            return duration.toMillis() + "ms";
        }
        long days = duration.toDays();
        if (days > 0) {
            return days + "d" + rest(duration.toHoursPart(), "h");
        }
        if (duration.toHours() > 0) {
            return duration.toHours() + "h" + rest(duration.toMinutesPart(), "m");
        }
        if (duration.toMinutes() > 0) {
            return duration.toMinutes() + "m" + rest(duration.toSecondsPart(), "s");
        }
        return duration.toSeconds() + "s" + (duration.toSeconds() < 10 ? rest(duration.toMillisPart(), "ms") : "");
    }

    private static String rest(int number, String unit) {
        return number == 0 ? "" : " " + number + unit;
    }
}
