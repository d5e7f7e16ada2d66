package dev.outbox.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Every measurement of a run, and the file of them. */
final class Results {
    static final String HEADER =
            "scenario,contender,round,per_second,p50_ms,p99_ms,max_ms,idle_per_minute,db_cpu_us,wal_bytes";

    private final List<Row> rows = new ArrayList<>();

    record Row(String scenario, String contender, int round, Measurement measurement) {}

    void add(Row row) {
        rows.add(row);
    }

    List<Row> rows() {
        return List.copyOf(rows);
    }

    /** The median of one figure over the rounds, or null if it was never measured. */
    @Nullable
    Double median(String scenario, String contender, Function<Measurement, @Nullable Double> figure) {
        double[] values = values(scenario, contender, figure);
        int middle = values.length / 2;
        if (values.length == 0) {
            return null;
        }
        return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    }

    /** One figure of each round, lowest first. */
    double[] values(String scenario, String contender, Function<Measurement, @Nullable Double> figure) {
        return rows.stream()
                .filter(row -> row.scenario.equals(scenario) && row.contender.equals(contender))
                .map(row -> figure.apply(row.measurement))
                .filter(Objects::nonNull)
                .mapToDouble(Double::doubleValue)
                .sorted()
                .toArray();
    }

    void writeCsv(Path file) throws IOException {
        Stream<String> lines = rows.stream().map(Results::csv);
        Files.write(file, Stream.concat(Stream.of(HEADER), lines).toList());
    }

    private static String csv(Row row) {
        Measurement m = row.measurement;
        return String.join(
                ",",
                row.scenario,
                row.contender,
                Integer.toString(row.round),
                number("%.0f", m.perSecond()),
                number("%.3f", m.p50Millis()),
                number("%.3f", m.p99Millis()),
                number("%.3f", m.maxMillis()),
                number("%.0f", m.idlePerMinute()),
                number("%.1f", m.databaseCpuMicros()),
                number("%.0f", m.walBytes()));
    }

    private static String number(String format, @Nullable Double value) {
        return value == null ? "" : String.format(Locale.ROOT, format, value);
    }
}
