package dev.outbox.sqlserver;

/** The batch that claims items with a key; {@link SqlServerClaim} runs it. */
final class SqlServerKeyClaim {
    /** Answers also how far it walked: the last key it looked at, empty at the end of the round. */
    static final String KEYS = """
            %1$s
            DECLARE @cursor nvarchar(256) = :key_cursor, @most_heads int = :heads, @urgent_heads int = :urgent_heads,
                @probes int = :probes, @bulk_chance float = :bulk_chance, @probe int = 0, @found int = 0,
                @key nvarchar(256) = N'', @next nvarchar(256), @head bigint, @status smallint, @due datetime2(7),
                @topic nvarchar(255), @priority smallint, @attempts int, @first bigint, @won int,
                @walked nvarchar(256), @longest_run int = :longest_run, @rest int, @room int,
                @round_turn bigint = :round_turn, @heads_cut bit = 0, @urgent int, @kept int, @kept_round int;
            DECLARE @heads TABLE (ExactKey nvarchar(256) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
                Head bigint NOT NULL, Size bigint NOT NULL, Turn bigint NOT NULL);
            DECLARE @run TABLE (Place bigint NOT NULL, Eligible bit NOT NULL, Size bigint NOT NULL);
            WHILE @probe < @left AND @found < @urgent_heads
            BEGIN
                SET @next = NULL;
                SELECT TOP (1) @next = {exact_key} FROM {table} WITH ({by_key_high}READUNCOMMITTED)
                WHERE {mine} AND {status} = 0 AND {priority} = 0 AND {message_key} IS NOT NULL AND {exact_key} > @key
                ORDER BY {exact_key};
                IF @next IS NULL BREAK;
                SET @key = @next;
                SET @probe = @probe + 1;
                SET @status = NULL;
                SELECT TOP (1) @head = {sequence}, @status = {status}, @due = {due_on}, @topic = {topic},
                    @priority = {priority}
                FROM {table} WITH ({by_key}READUNCOMMITTED)
                WHERE {mine} AND {status} < 2 AND {message_key} IS NOT NULL AND {exact_key} = @key
                ORDER BY {status} DESC, {sequence};
                IF @status = 0 AND @priority = 0 AND (@due IS NULL OR @due <= @now)
                  AND (@filtered = 0 OR @listed =
                    CASE WHEN EXISTS (SELECT 1 FROM @topics f WHERE f.Wanted = @topic + N'.') THEN 1 ELSE 0 END)
                BEGIN
                    INSERT INTO @heads (ExactKey, Head, Size, Turn)
                    SELECT @key, @head, COALESCE(DATALENGTH({payload}), DATALENGTH({payload_bytes}), 0), @head
                    FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK) WHERE {sequence} = @head;
                    SET @found = @found + @@ROWCOUNT;
                END;
            END;
            SET @urgent = @found;
            SET @key = @cursor;
            SET @probe = 0;
            WHILE @walked IS NULL
            BEGIN
                SET @next = NULL;
                IF @found < @most_heads AND @probe < @probes
                    SELECT TOP (1) @next = {exact_key}, @head = {sequence}, @status = {status}, @due = {due_on},
                        @topic = {topic}, @priority = {priority}
                    FROM {table} WITH ({by_key}READUNCOMMITTED)
                    WHERE {mine} AND {status} < 2 AND {message_key} IS NOT NULL AND {exact_key} > @key
                    ORDER BY {exact_key}, {status} DESC, {sequence};
                ELSE
                    SET @walked = @key;
                IF @next IS NULL
                    SET @walked = COALESCE(@walked, N'');
                ELSE
                BEGIN
                    SET @key = @next;
                    SET @probe = @probe + 1;
                    IF @status = 0 AND (@due IS NULL OR @due <= @now)
                      AND (@priority < 2 OR RAND() < @bulk_chance)
                      AND (@filtered = 0 OR @listed =
                        CASE WHEN EXISTS (SELECT 1 FROM @topics f WHERE f.Wanted = @topic + N'.') THEN 1 ELSE 0 END)
                      AND NOT EXISTS (SELECT 1 FROM @heads WHERE ExactKey = @key)
                    BEGIN
                        INSERT INTO @heads (ExactKey, Head, Size, Turn)
                        SELECT @key, @head, COALESCE(DATALENGTH({payload}), DATALENGTH({payload_bytes}), 0), @round_turn
                        FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK) WHERE {sequence} = @head;
                        SET @found = @found + @@ROWCOUNT;
                    END;
                END;
            END;
            DELETE FROM @heads WHERE ExactKey IN (
                SELECT sized.ExactKey
                FROM (
                    SELECT ExactKey, Size, SUM(Size) OVER (ORDER BY Turn, ExactKey ROWS UNBOUNDED PRECEDING) AS upto
                    FROM @heads) sized
                WHERE sized.upto - sized.Size >= @max_bytes);
            SELECT @kept = COUNT(*), @spare = @max_bytes - COALESCE(SUM(Size), 0),
                @kept_round = COALESCE(SUM(CASE WHEN Turn = @round_turn THEN 1 ELSE 0 END), 0),
                @next = MAX(CASE WHEN Turn = @round_turn THEN ExactKey ELSE N'' END)
            FROM @heads;
            IF @kept_round < @found - @urgent
            BEGIN
                SET @heads_cut = 1;
                SET @walked = COALESCE(NULLIF(@next, N''), @cursor);
            END;
            SET @found = @kept;
            SET @rest = CASE WHEN @found > 1 THEN @left / @found ELSE @left END;
            SET @rest = CASE WHEN @rest < @longest_run THEN @longest_run ELSE @rest END - 1;
            SET @room = @left - @found;
            SET LOCK_TIMEOUT 0;
            BEGIN TRANSACTION;
            SET @key = N'';
            WHILE @key IS NOT NULL
            BEGIN
                SET @next = NULL;
                SELECT TOP (1) @next = ExactKey, @head = Head FROM @heads WHERE ExactKey > @key ORDER BY ExactKey;
                SET @key = @next;
                SET @won = 0;
                SET @first = NULL;
                BEGIN TRY
                    SELECT TOP (1) @first = {sequence}, @status = {status}, @attempts = {attempt_count}
                    FROM {table} WITH ({by_key}ROWLOCK, UPDLOCK, READCOMMITTEDLOCK)
                    WHERE {mine} AND {status} < 2 AND {message_key} IS NOT NULL AND {exact_key} = @key
                    ORDER BY {status} DESC, {sequence};
                    IF @first = @head AND @status = 0 AND NOT EXISTS (
                        SELECT 1 FROM {table} WITH ({by_key_blocked}READCOMMITTEDLOCK)
                        WHERE {mine} AND {status} = 3 AND {blocks_key} = 1 AND {exact_key} = @key)
                    BEGIN
                        UPDATE {table} WITH (ROWLOCK, UPDLOCK, READCOMMITTEDLOCK)
                        SET {status = 1}, {owner_token = @token}, {attempt_count = {attempt_count} + 1},
                            {locked_until = DATEADD(millisecond, @lease, @now)}, {processed_by = @owner},
                            {blocks_key = 0}
                        %2$s
                        WHERE {sequence} = @head AND {status} = 0 AND ({due_on} IS NULL OR {due_on} <= @now);
                        SET @won = @@ROWCOUNT;
                    END;
                END TRY
                BEGIN CATCH
                    IF ERROR_NUMBER() <> 1222 OR XACT_STATE() <> 1
                    BEGIN;
                        THROW;
                    END;
                END CATCH;
                SET @most = CASE WHEN @rest < @room THEN @rest ELSE @room END;
                IF @won = 1 AND @attempts < 2 AND @most > 0 AND @spare > 0
                BEGIN TRY
                    DELETE FROM @run;
                    INSERT INTO @run (Place, Eligible, Size)
                    SELECT TOP (@most) {sequence},
                        CASE WHEN ({due_on} IS NULL OR {due_on} <= @now) AND (@filtered = 0 OR @listed =
                            CASE WHEN EXISTS (SELECT 1 FROM @topics f WHERE f.Wanted = {topic} + N'.') THEN 1 ELSE 0 END)
                        THEN 1 ELSE 0 END, COALESCE(DATALENGTH({payload}), DATALENGTH({payload_bytes}), 0)
                    FROM {table} WITH ({by_key}ROWLOCK, UPDLOCK, READCOMMITTEDLOCK)
                    WHERE {mine} AND {status} < 2 AND {status} = 0 AND {message_key} IS NOT NULL
                      AND {exact_key} = @key AND {sequence} > @head
                    ORDER BY {sequence};
                    DELETE FROM @run WHERE Place >= (
                        SELECT MIN(sized.Place)
                        FROM (
                            SELECT Place, Eligible, Size, SUM(Size) OVER (ORDER BY Place ROWS UNBOUNDED PRECEDING) AS upto
                            FROM @run) sized
                        WHERE sized.Eligible = 0 OR sized.upto - sized.Size >= @spare);
                    UPDATE {table} WITH (ROWLOCK, UPDLOCK, READCOMMITTEDLOCK)
                    SET {status = 1}, {owner_token = @token}, {attempt_count = {attempt_count} + 1},
                        {locked_until = DATEADD(millisecond, @lease, @now)}, {processed_by = @owner}, {blocks_key = 0}
                    %2$s
                    FROM @run r
                    WHERE {sequence} = r.Place AND {status} = 0;
                    SELECT @room = @room - COUNT(*), @spare = @spare - COALESCE(SUM(Size), 0) FROM @run;
                END TRY
                BEGIN CATCH
                    IF ERROR_NUMBER() <> 1222 OR XACT_STATE() <> 1
                    BEGIN;
                        THROW;
                    END;
                END CATCH;
            END;
            COMMIT TRANSACTION;
            SET LOCK_TIMEOUT -1;
            SELECT @walked AS to_key, @heads_cut AS heads_cut, %3$s
            """.formatted(ClaimParts.DECLARE, ClaimParts.OUTPUT, ClaimParts.ANSWER);

    private SqlServerKeyClaim() {}
}
