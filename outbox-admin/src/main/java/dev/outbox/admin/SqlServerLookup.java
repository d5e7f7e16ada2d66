package dev.outbox.admin;

/** Searches on SQL Server; see {@link PostgresLookup}. */
final class SqlServerLookup {
    static final String BY_IDS = """
            SELECT %s
            FROM {table}
            WHERE {work_item_id} IN (SELECT CAST(value AS uniqueidentifier) FROM STRING_SPLIT(:ids, N','))
              AND {topic} IS NOT NULL
            """.formatted(ItemRow.SQL_SERVER);

    static final String RECORDS_BY_IDS = """
            SELECT %s
            FROM {table}
            WHERE {work_item_id} IN (SELECT CAST(value AS uniqueidentifier) FROM STRING_SPLIT(:ids, N','))
              AND {topic} IS NULL AND {status} = 3
            """.formatted(ItemRow.SQL_SERVER);

    static final String BY = """
            SELECT TOP (CAST(:size AS int)) %s
            FROM {table}
            WHERE {by} = CAST(:value AS nvarchar(2000)) AND {sequence} > CAST(:after AS bigint)
            ORDER BY {sequence}
            """.formatted(ItemRow.SQL_SERVER);

    static final String DETAIL = """
            SELECT %s, {headers} AS headers, {content_type} AS content_type
            FROM {table}
            WHERE {work_item_id} = CAST(:id AS uniqueidentifier) AND {topic} IS NOT NULL
            """.formatted(ItemRow.SQL_SERVER);

    static final String PAYLOAD = """
            SELECT %s, {headers} AS headers, {content_type} AS content_type, {payload} AS payload,
                {payload_bytes} AS payload_bytes
            FROM {table}
            WHERE {work_item_id} = CAST(:id AS uniqueidentifier) AND {topic} IS NOT NULL
            """.formatted(ItemRow.SQL_SERVER);

    static final String RECORD_DETAIL = """
            SELECT %s, {headers} AS headers, {content_type} AS content_type, CAST(NULL AS nvarchar(1)) AS payload,
                CAST(NULL AS varbinary(1)) AS payload_bytes
            FROM {table}
            WHERE {work_item_id} = CAST(:id AS uniqueidentifier) AND {topic} IS NULL AND {status} = 3
            """.formatted(ItemRow.SQL_SERVER);

    static final String INDEXED = """
            SELECT COUNT(*) AS indexed
            FROM sys.indexes i
            JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal = 1
            JOIN sys.columns c ON c.object_id = i.object_id AND c.column_id = k.column_id
            WHERE i.object_id = OBJECT_ID(:table) AND c.name = CAST(:column AS nvarchar(128)) AND i.is_disabled = 0
              AND (i.filter_definition IS NULL
                OR i.filter_definition = N'([' + CAST(:column AS nvarchar(128)) + N'] IS NOT NULL)')
            """;

    static final String ROWS = """
            SELECT COUNT(*) AS counted
            FROM (SELECT TOP (CAST(:most AS int)) {sequence} AS place FROM {table} WHERE OBJECT_ID(:table) IS NOT NULL) few
            """;

    private SqlServerLookup() {}
}
