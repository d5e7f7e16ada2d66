package dev.outbox.cli;

/** Where the runnable jar begins. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        System.exit(Cli.run(Environment.ofProcess(), args));
    }
}
