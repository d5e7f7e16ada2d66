package dev.outbox.cli;

/** Colours, where somebody sees them. */
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

    /** A terminal that is not dumb, and nobody who set NO_COLOR. */
    static boolean areOn(Environment environment) {
        return environment.terminal().isThere()
                && environment.variable("NO_COLOR").isEmpty()
                && !environment.variable("TERM").equals("dumb");
    }
}
