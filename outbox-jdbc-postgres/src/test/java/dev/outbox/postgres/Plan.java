package dev.outbox.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What a statement did, node by node, as EXPLAIN ANALYZE tells it.
 *
 * @param buffers pages touched
 * @param rowsRead rows all scans of the table looked at, index entries of dead rows not counted
 * @param passedOver pairs of rows that joins looked at and that did not match
 */
record Plan(String statement, List<Node> nodes, long buffers, long rowsRead, long passedOver) {
    /** PostgreSQL reads its own JSON. */
    private static final String NODES = """
            SELECT node ->> 'Node Type', COALESCE(node ->> 'Relation Name', ''), COALESCE(node ->> 'Index Name', ''),
                ((COALESCE((node ->> 'Actual Rows')::numeric, 0) + COALESCE((node ->> 'Rows Removed by Filter')::numeric, 0)
                    + COALESCE((node ->> 'Rows Removed by Index Recheck')::numeric, 0))
                    * (node ->> 'Actual Loops')::numeric)::bigint,
                COALESCE(((node #>> '{Plans,0,Actual Rows}')::numeric
                    * (node #>> '{Plans,0,Actual Loops}')::numeric)::bigint, 0),
                COALESCE((node ->> 'Shared Hit Blocks')::bigint, 0) + COALESCE((node ->> 'Shared Read Blocks')::bigint, 0),
                (COALESCE((node ->> 'Rows Removed by Join Filter')::numeric, 0) * (node ->> 'Actual Loops')::numeric)::bigint
            FROM jsonb_path_query(?::jsonb, 'strict $.**') WITH ORDINALITY AS nodes(node, position)
            WHERE jsonb_typeof(node) = 'object' AND jsonb_exists(node, 'Node Type')
            ORDER BY position
            """;

    /** @param input rows that came from the first child */
    record Node(String type, String relation, String index, long rows, long input) {
        boolean isScanOf(String table) {
            return relation.equals(table) && type.endsWith("Scan");
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%s %s %s rows=%d input=%d", type, relation, index, rows, input);
        }
    }

    static Plan read(Connection connection, String statement, String json) throws SQLException {
        List<Node> nodes = new ArrayList<>();
        long buffers = 0;
        long rowsRead = 0;
        long passedOver = 0;
        try (PreparedStatement parse = connection.prepareStatement(NODES)) {
            parse.setString(1, json);
            try (ResultSet row = parse.executeQuery()) {
                while (row.next()) {
                    Node node = new Node(
                            row.getString(1), row.getString(2), row.getString(3), row.getLong(4), row.getLong(5));
                    buffers = nodes.isEmpty() ? row.getLong(6) : buffers;
                    rowsRead += node.type.endsWith("Scan") && !node.relation.isEmpty() ? node.rows : 0;
                    passedOver += row.getLong(7);
                    nodes.add(node);
                }
            }
        }
        return new Plan(statement, nodes, buffers, rowsRead, passedOver);
    }

    /** The most rows any sort had to take in. */
    long largestSort() {
        return nodes.stream()
                .filter(node -> node.type.contains("Sort"))
                .mapToLong(Node::input)
                .max()
                .orElse(0);
    }

    List<Node> seqScans() {
        return nodes.stream().filter(node -> node.type.equals("Seq Scan")).toList();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(statement)
                .append(": buffers=")
                .append(buffers)
                .append(" rowsRead=")
                .append(rowsRead)
                .append(" passedOver=")
                .append(passedOver)
                .append(" largestSort=")
                .append(largestSort());
        nodes.stream()
                .filter(node -> !node.relation.isEmpty() || node.type.contains("Sort") || node.type.contains("Hash"))
                .forEach(node -> text.append("\n    ").append(node));
        return text.toString();
    }
}
