package dev.outbox.benchmarks;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * The settings from the command line.
 *
 * @param scenarios the beginnings of the names to run; empty means all
 * @param rounds how often each contender is measured
 * @param smoke whether to run a hundredth of everything, only to check that it works
 * @param results the directory for the CSV file and the charts
 */
record Settings(List<String> scenarios, int rounds, boolean smoke, Path results) {
    Settings {
        scenarios = List.copyOf(scenarios);
        if (rounds < 1) {
            throw new IllegalArgumentException("bench.rounds must be at least 1, was " + rounds);
        }
    }

    static Settings fromSystemProperties() {
        List<String> scenarios = Arrays.stream(property("bench", "").split(",", -1))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .toList();
        boolean smoke = Boolean.parseBoolean(property("bench.smoke", "false"));
        int rounds = smoke ? 1 : number("bench.rounds", property("bench.rounds", "3"));
        return new Settings(scenarios, rounds, smoke, Path.of(property("bench.results", "target")));
    }

    private static String property(String name, String otherwise) {
        return System.getProperty(name, otherwise);
    }

    private static int number(String name, String value) {
        try {
            return Integer.parseInt(value.strip());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " must be a whole number, was \"" + value + "\"", e);
        }
    }
}
