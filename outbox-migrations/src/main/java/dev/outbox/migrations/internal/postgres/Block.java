package dev.outbox.migrations.internal.postgres;

/** Code of PL/pgSQL as it stands in a statement. */
final class Block {
    private Block() {}

    /** An anonymous block. */
    static String of(String body) {
        return "DO " + body(body);
    }

    /** The body of a function or block, in dollars that it does not itself contain. */
    static String body(String body) {
        String dollars = "$$";
        for (int number = 1; body.contains(dollars); number++) {
            dollars = "$body" + number + "$";
        }
        return dollars + "\n" + body + "\n" + dollars;
    }

    /** A name within the quotes of a RAISE or of a {@code format()}. */
    static String escaped(String name) {
        return name.replace("'", "''").replace("%", "%%");
    }
}
