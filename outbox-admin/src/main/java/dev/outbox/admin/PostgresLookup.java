package dev.outbox.admin;

/** Searches on PostgreSQL. */
final class PostgresLookup {
    static final String BY_IDS = """
            SELECT %s
            FROM {table}
            WHERE {work_item_id} = ANY (string_to_array(:ids, ',')::uuid[]) AND {topic} IS NOT NULL
            """.formatted(ItemRow.POSTGRES);

    /** Records of an inbox without a topic are in no index by their id: they are found among all that are Dead. */
    static final String RECORDS_BY_IDS = """
            SELECT %s
            FROM {table}
            WHERE {work_item_id} = ANY (string_to_array(:ids, ',')::uuid[]) AND {topic} IS NULL AND {status} = 3
            """.formatted(ItemRow.POSTGRES);

    static final String BY = """
            SELECT %s
            FROM {table}
            WHERE {by} = :value AND {sequence} > :after
            ORDER BY {sequence} LIMIT :size
            """.formatted(ItemRow.POSTGRES);

    static final String DETAIL = """
            SELECT %s, {headers} AS headers, {content_type} AS content_type
            FROM {table}
            WHERE {work_item_id} = :id::uuid AND {topic} IS NOT NULL
            """.formatted(ItemRow.POSTGRES);

    /** Apart, because who may see the rest may not see the payload. */
    static final String PAYLOAD = """
            SELECT %s, {headers} AS headers, {content_type} AS content_type,
                {payload} AS payload, {payload_bytes} AS payload_bytes
            FROM {table}
            WHERE {work_item_id} = :id::uuid AND {topic} IS NOT NULL
            """.formatted(ItemRow.POSTGRES);

    /** A record has no content. */
    static final String RECORD_DETAIL = """
            SELECT %s, {headers} AS headers, {content_type} AS content_type, NULL AS payload, NULL::bytea AS payload_bytes
            FROM {table}
            WHERE {work_item_id} = :id::uuid AND {topic} IS NULL AND {status} = 3
            """.formatted(ItemRow.POSTGRES);

    static final String INDEXED = """
            SELECT EXISTS (
                SELECT FROM pg_catalog.pg_index i
                JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                WHERE i.indrelid = to_regclass(:table) AND i.indisvalid AND a.attname = :column
                  AND (i.indpred IS NULL
                    OR pg_get_expr(i.indpred, i.indrelid) = '(' || quote_ident(:column) || ' IS NOT NULL)')) AS indexed
            """;

    static final String ROWS = """
            SELECT (SELECT count(*) FROM (SELECT FROM {table} LIMIT :most) AS few) AS counted,
                (SELECT GREATEST(reltuples, 0)::bigint FROM pg_catalog.pg_class WHERE oid = to_regclass(:table)) AS estimated
            """;

    private PostgresLookup() {}
}
