package dev.outbox.admin.internal.postgres;

import dev.outbox.admin.internal.LookupStatements;

/** Searches on PostgreSQL. */
final class PostgresLookup implements LookupStatements {
    @Override
    public String byIds() {
        return """
            SELECT %s
            FROM {table}
            WHERE {work_item_id} = ANY (string_to_array(:ids, ',')::uuid[]) AND {topic} IS NOT NULL
            """.formatted(PostgresItems.COLUMNS);
    }

    /** Records of an inbox without a topic are in no index by their id: they are found among all that are Dead. */
    @Override
    public String recordsByIds() {
        return """
            SELECT %s
            FROM {table}
            WHERE {work_item_id} = ANY (string_to_array(:ids, ',')::uuid[]) AND {topic} IS NULL AND {status} = 3
            """.formatted(PostgresItems.COLUMNS);
    }

    @Override
    public String by() {
        return """
            SELECT %s
            FROM {table}
            WHERE {by} = :value AND {sequence} > :after
            ORDER BY {sequence} LIMIT :size
            """.formatted(PostgresItems.COLUMNS);
    }

    @Override
    public String detail() {
        return """
            SELECT %s, {headers} AS headers, {content_type} AS content_type
            FROM {table}
            WHERE {work_item_id} = :id::uuid AND {topic} IS NOT NULL
            """.formatted(PostgresItems.COLUMNS);
    }

    /** Apart, because who may see the rest may not see the payload. */
    @Override
    public String payload() {
        return """
            SELECT %s, {headers} AS headers, {content_type} AS content_type,
                {payload} AS payload, {payload_bytes} AS payload_bytes
            FROM {table}
            WHERE {work_item_id} = :id::uuid AND {topic} IS NOT NULL
            """.formatted(PostgresItems.COLUMNS);
    }

    /** A record has no content. */
    @Override
    public String recordDetail() {
        return """
            SELECT %s, {headers} AS headers, {content_type} AS content_type, NULL AS payload, NULL::bytea AS payload_bytes
            FROM {table}
            WHERE {work_item_id} = :id::uuid AND {topic} IS NULL AND {status} = 3
            """.formatted(PostgresItems.COLUMNS);
    }

    @Override
    public String rows() {
        return """
            SELECT count(*) AS counted FROM (SELECT FROM {table} LIMIT :most) AS few
            """;
    }
}
