package dev.outbox.migrations.internal.postgres;

import java.util.Set;

/**
 * An old column and the new one that will take its place; the database keeps them equal in between.
 *
 * @param column the canonical column
 * @param old the old column's name
 * @param oldType the old column's type, as the catalog writes it
 * @param now the new column's name: the canonical one, or an interim name where that is taken
 */
record Pair(Canonical.Column column, String old, String oldType, String now) {
    private static final Set<String> NUMBERS = Set.of("smallint", "integer", "bigint");
    private static final String STATUSES = "ARRAY['Seen', 'Processing', 'Done', 'Dead']";
    private static final String UUID = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";

    /** Whether the two types can stand for each other. */
    boolean fits() {
        String type = column.type();
        return oldType.equals(type)
                || (isText(oldType) && isText(type))
                || (isText(oldType) && isStatus())
                || (NUMBERS.contains(oldType) && NUMBERS.contains(type))
                || (oldType.equals("uuid") && isText(type));
    }

    boolean isStatus() {
        return column.name().equals("status");
    }

    static boolean isText(String type) {
        return type.equals("text") || type.startsWith("character varying");
    }

    /** The value of the new column for one of the old column. */
    String toNew(String value) {
        if (isText(oldType) && isStatus()) {
            return "(array_position(" + STATUSES + ", " + value + "::text) - 1)::smallint";
        }
        return oldType.equals(column.type()) ? value : value + "::" + column.type();
    }

    /**
     * The value of the old column for one of the new column. A value that does not fit is cut off, or becomes null: by then
     * old applications only read, and no transaction may fail because of them.
     *
     * @param item the work item id, which a null message id stands for
     */
    String toOld(String value, String item) {
        if (isText(oldType) && isStatus()) {
            return "(" + STATUSES + ")[" + value + " + 1]::" + oldType;
        }
        if (oldType.equals("uuid") && isText(column.type())) {
            return "(CASE WHEN " + value + " IS NULL THEN " + item + " WHEN " + value + " ~ '" + UUID + "' THEN "
                    + value + "::uuid END)";
        }
        return (oldType.equals(column.type()) ? value : value + "::" + oldType)
                + (column.bytewise() ? " COLLATE \"C\"" : "");
    }

    /** Whether the two have the same value; null if that is not certain. It is checked for every row that is written. */
    String agrees(String old, String value, String item) {
        return oldType.equals("uuid") && isText(column.type())
                ? "CASE WHEN " + value + " IS NULL THEN " + old + " = " + item + " ELSE " + old + "::text = " + value
                        + " END"
                : old + " IS NOT DISTINCT FROM " + toOld(value, item);
    }
}
