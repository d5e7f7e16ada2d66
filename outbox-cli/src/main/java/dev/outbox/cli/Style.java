package dev.outbox.cli;

/** Colours on a terminal. */
enum Style {
    BOLD("1"),
    RED("31"),
    GREEN("32"),
    YELLOW("33"),
    DIM("2");

    private final String code;

    Style(String code) {
        this.code = code;
    }

    String of(String text) {
        return "\u001b[" + code + "m" + text + "\u001b[0m";
    }

    /** Whether there is a terminal that is not dumb, and NO_COLOR is not set. */
    static boolean areOn(Environment environment) {
        return environment.terminal().isThere()
                && environment.variable("NO_COLOR").isEmpty()
                && !environment.variable("TERM").equals("dumb");
    }
}
