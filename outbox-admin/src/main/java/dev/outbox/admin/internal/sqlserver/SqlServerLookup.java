package dev.outbox.admin.internal.sqlserver;

import dev.outbox.admin.internal.LookupStatements;

/** Searches on SQL Server; see PostgresLookup. */
final class SqlServerLookup implements LookupStatements {
    @Override
    public String byIds() {
        return """
            SELECT %s
            FROM {table}
            WHERE {work_item_id} IN (SELECT CAST(value AS uniqueidentifier) FROM STRING_SPLIT(:ids, N','))
              AND {topic} IS NOT NULL
            """.formatted(SqlServerItems.COLUMNS);
    }

    @Override
    public String recordsByIds() {
        return """
            SELECT %s
            FROM {table}
            WHERE {work_item_id} IN (SELECT CAST(value AS uniqueidentifier) FROM STRING_SPLIT(:ids, N','))
              AND {topic} IS NULL AND {status} = 3
            """.formatted(SqlServerItems.COLUMNS);
    }

    @Override
    public String by() {
        return """
            SELECT TOP (CAST(:size AS int)) %s
            FROM {table}
            WHERE {by} = CAST(:value AS nvarchar(2000)) AND {sequence} > CAST(:after AS bigint)
            ORDER BY {sequence}
            """.formatted(SqlServerItems.COLUMNS);
    }

    @Override
    public String detail() {
        return """
            SELECT %s, {headers} AS headers, {content_type} AS content_type
            FROM {table}
            WHERE {work_item_id} = CAST(:id AS uniqueidentifier) AND {topic} IS NOT NULL
            """.formatted(SqlServerItems.COLUMNS);
    }

    @Override
    public String payload() {
        return """
            SELECT %s, {headers} AS headers, {content_type} AS content_type, {payload} AS payload,
                {payload_bytes} AS payload_bytes
            FROM {table}
            WHERE {work_item_id} = CAST(:id AS uniqueidentifier) AND {topic} IS NOT NULL
            """.formatted(SqlServerItems.COLUMNS);
    }

    @Override
    public String recordDetail() {
        return """
            SELECT %s, {headers} AS headers, {content_type} AS content_type, CAST(NULL AS nvarchar(1)) AS payload,
                CAST(NULL AS varbinary(1)) AS payload_bytes
            FROM {table}
            WHERE {work_item_id} = CAST(:id AS uniqueidentifier) AND {topic} IS NULL AND {status} = 3
            """.formatted(SqlServerItems.COLUMNS);
    }

    @Override
    public String rows() {
        return """
            SELECT COUNT(*) AS counted
            FROM (SELECT TOP (CAST(:most AS int)) {sequence} AS place FROM {table}) few
            """;
    }
}
