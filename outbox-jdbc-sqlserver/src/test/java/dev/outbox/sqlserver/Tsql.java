package dev.outbox.sqlserver;

import com.alibaba.druid.DbType;
import com.alibaba.druid.sql.SQLUtils;
import com.alibaba.druid.sql.ast.SQLStatement;
import com.alibaba.druid.sql.parser.ParserException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses a batch of T-SQL. What controls the flow is read here, strictly and no more of it than we use; what is left,
 * statements that read and write and their conditions, is given to Druid's grammar, which knows the hints.
 */
public final class Tsql {
    private static final Pattern TOKEN = Pattern.compile(
            "\\s+|--[^\n]*|(N?'(?:[^']|'')*'|\\[[^]]*]|\"[^\"]*\"|[@\\w]+|<>|<=|>=|::|.)", Pattern.DOTALL);

    private static final Set<String> STATEMENTS = Set.of(
            "SELECT",
            "INSERT",
            "UPDATE",
            "DELETE",
            "SET",
            "DECLARE",
            "EXEC",
            "BEGIN",
            "IF",
            "WHILE",
            "BREAK",
            "THROW",
            "COMMIT",
            "ROLLBACK",
            "CREATE",
            "ALTER",
            "DROP",
            "GRANT");

    /** What runs on one server and not on the other, or is better left alone. */
    private static final Set<String> FORBIDDEN =
            Set.of("MERGE", "GO", "NOLOCK", "GOTO", "CURSOR", "HOLDLOCK", "TABLOCK", "TABLOCKX", "WAITFOR");

    private static final Set<String> HINTS =
            Set.of("ROWLOCK", "UPDLOCK", "READPAST", "READCOMMITTEDLOCK", "READUNCOMMITTED");

    private static final Pattern JSON_COLUMNS = Pattern.compile(
            "(OPENJSON \\( [^()]+ \\)) WITH \\( ((?:\\w+ [a-z]\\w+ (?:\\( (?:\\d+|max) \\) )?'\\$\\.\\w+' (?:, )?)+)\\)");

    private final List<String> tokens = new ArrayList<>();
    private int at;

    private Tsql(String batch) {
        Matcher matcher = TOKEN.matcher(batch);
        while (matcher.find()) {
            if (matcher.group(1) != null) {
                tokens.add(matcher.group(1));
            }
        }
    }

    /** @throws IllegalArgumentException if it is not T-SQL as we write it */
    public static void parse(String batch) {
        Tsql tsql = new Tsql(batch);
        for (String token : tsql.tokens) {
            if (FORBIDDEN.contains(token.toUpperCase(Locale.ROOT))) {
                throw new IllegalArgumentException(token + " is not for us");
            }
            if (token.equals("{") || token.equals("}") || token.equals(":")) {
                throw new IllegalArgumentException("a name was not resolved: " + batch);
            }
        }
        while (tsql.at < tsql.tokens.size()) {
            tsql.statement();
        }
    }

    private String peek() {
        return at < tokens.size() ? tokens.get(at) : "the end";
    }

    private boolean next(String... expected) {
        for (int i = 0; i < expected.length; i++) {
            if (at + i >= tokens.size() || !tokens.get(at + i).equals(expected[i])) {
                return false;
            }
        }
        at += expected.length;
        return true;
    }

    private void need(String... expected) {
        if (!next(expected)) {
            throw new IllegalArgumentException(
                    "expected " + String.join(" ", expected) + " before " + peek() + " after " + before());
        }
    }

    private String before() {
        return String.join(" ", tokens.subList(Math.max(0, at - 12), at));
    }

    private void statement() {
        if (next("BEGIN", "TRY")) {
            blockUntil("END", "TRY");
            next(";");
            need("BEGIN", "CATCH");
            blockUntil("END", "CATCH");
            next(";");
        } else if (next("BEGIN", "TRANSACTION", ";")
                || next("COMMIT", "TRANSACTION", ";")
                || next("ROLLBACK", "TRANSACTION", ";")
                || next("BREAK", ";")) {
            return;
        } else if (next("BEGIN")) {
            next(";");
            blockUntil("END");
            next(";");
        } else if (next("WHILE")) {
            druid("SELECT 1 FROM t WHERE " + condition());
            statement();
        } else if (next("IF")) {
            druid("SELECT 1 FROM t WHERE " + condition());
            statement();
            if (next("ELSE")) {
                statement();
            }
        } else {
            simple();
        }
    }

    private void blockUntil(String... end) {
        while (!next(end)) {
            if (at >= tokens.size()) {
                throw new IllegalArgumentException("no " + String.join(" ", end) + " at the end");
            }
            statement();
        }
    }

    /** Up to the statement that depends on it. */
    private String condition() {
        int from = at;
        for (int depth = 0; depth > 0 || !STATEMENTS.contains(peek()); at++) {
            depth += peek().equals("(") ? 1 : peek().equals(")") ? -1 : 0;
            if (at >= tokens.size() || depth < 0) {
                throw new IllegalArgumentException("no end of the condition after " + before());
            }
        }
        return String.join(" ", tokens.subList(from, at));
    }

    private void simple() {
        String verb = peek();
        if (!STATEMENTS.contains(verb)) {
            throw new IllegalArgumentException("no statement begins with " + verb + ", after " + before());
        }
        int from = at;
        int depth = 0;
        for (; depth > 0 || !peek().equals(";"); at++) {
            depth += peek().equals("(") ? 1 : peek().equals(")") ? -1 : 0;
            if (at >= tokens.size() || depth < 0) {
                throw new IllegalArgumentException("no end of the statement that begins with "
                        + String.join(" ", tokens.subList(from, Math.min(tokens.size(), from + 12))));
            }
            boolean another = at > from
                    && depth == 0
                    && !verb.equals("DROP")
                    && Set.of("DECLARE", "EXEC", "WHILE", "IF").contains(peek());
            if (another) {
                throw new IllegalArgumentException("no ; before " + peek() + ", after " + before());
            }
        }
        String text = String.join(" ", tokens.subList(from, at++));
        switch (verb) {
            case "DECLARE" -> declare(text);
            case "SET" -> set(text);
            case "EXEC" -> matches(text, "EXEC (@\\w+ = )?\\w+ (@\\w+ = (@\\w+|N'[^']*'|\\d+)( , )?)+");
            case "CREATE" -> create(text);
            case "ALTER" -> alter(text);
            case "DROP" ->
                matches(
                        text,
                        "DROP (INDEX \\[\\w+] ON \\[\\w+] \\. \\[\\w+]( WITH \\( ONLINE = ON \\))?|(TABLE|SEQUENCE) IF EXISTS \\[\\w+] \\. \\[\\w+])");
            case "GRANT" ->
                matches(
                        text,
                        "GRANT [A-Z]+( [A-Z]+)?( , [A-Z]+( [A-Z]+)?)*"
                                + "( ON (SCHEMA :: \\[\\w+]|\\[\\w+] \\. \\[\\w+]( \\( \\w+( , \\w+)* \\))?))? TO \\[\\w+]");
            case "THROW" -> matches(text, "THROW( 5\\d{4} , N'[^']*' , \\d)?");
            default -> druid(text);
        }
    }

    private static void matches(String text, String pattern) {
        if (!text.matches(pattern)) {
            throw new IllegalArgumentException("not as expected: " + text);
        }
    }

    private static void declare(String text) {
        Matcher table = Pattern.compile("DECLARE (@\\w+) TABLE (\\(.*\\))").matcher(text);
        if (table.matches()) {
            druid("CREATE TABLE " + table.group(1).substring(1) + " " + table.group(2));
        } else {
            druid(text);
        }
    }

    /** Druid knows little of it: types and conditions are given to it. */
    private static void alter(String text) {
        String online = "( WITH \\( (ALLOW_PAGE_LOCKS = OFF)?( , )?(ONLINE = ON)? \\))?";
        Matcher alter =
                Pattern.compile("ALTER TABLE (?:\\[\\w+] \\. )?\\[\\w+] (.+)").matcher(text);
        String change = alter.matches() ? alter.group(1) : text;
        Matcher column = Pattern.compile("ADD (\\[\\w+] [a-z].* NULL)( CONSTRAINT \\[\\w+] DEFAULT \\( (.+) \\))?")
                .matcher(change);
        Matcher computed = Pattern.compile("ADD \\[\\w+] AS (.+)").matcher(change);
        Matcher altered = Pattern.compile("ALTER COLUMN (\\[\\w+] [a-z].*? (NOT )?NULL)" + online)
                .matcher(change);
        Matcher check =
                Pattern.compile("ADD CONSTRAINT \\[\\w+] CHECK \\( (.+) \\)").matcher(change);
        if (column.matches()) {
            druid("CREATE TABLE t ( " + column.group(1) + " )");
            matches(
                    String.valueOf(column.group(3)),
                    "null|\\d|N'[^']*'|(SYSUTCDATETIME|NEWID) \\( \\)|NEXT VALUE FOR \\[\\w+] \\. \\[\\w+]");
        } else if (computed.matches()) {
            druid("SELECT " + computed.group(1).replaceAll(" COLLATE \\w+", ""));
        } else if (altered.matches()) {
            druid("CREATE TABLE t ( " + altered.group(1) + " )");
        } else if (check.matches()) {
            druid("SELECT 1 FROM t WHERE " + check.group(1));
        } else {
            matches(
                    change,
                    "SET \\( LOCK_ESCALATION = DISABLE \\)|DROP COLUMN \\[\\w+]|DROP CONSTRAINT \\[\\w+]" + online
                            + "|ADD CONSTRAINT \\[\\w+] (DEFAULT \\( .+ \\) FOR \\[\\w+]|(UNIQUE|PRIMARY KEY) (NON)?CLUSTERED"
                            + " \\( \\w+( , \\w+)* \\)" + online + ")");
        }
    }

    /** Druid does not know sequences, filtered indexes and computed columns. */
    private static void create(String text) {
        Matcher index = Pattern.compile(
                        "CREATE (?:UNIQUE )?INDEX \\[\\w+] ON (\\[\\w+](?: \\. \\[\\w+])?) \\( \\w+(?: DESC)?"
                                + "(?: , \\w+(?: DESC)?)* \\)(?: INCLUDE \\( \\w+(?: , \\w+)* \\))?(?: WHERE (.+?))?"
                                + "(?: WITH \\( ALLOW_PAGE_LOCKS = OFF(?: , ONLINE = ON)? \\))?")
                .matcher(text);
        if (text.startsWith("CREATE SEQUENCE")) {
            matches(text, "CREATE SEQUENCE [^ ]+( \\. [^ ]+)? AS bigint START WITH 1 INCREMENT BY 1 CACHE 1");
        } else if (text.startsWith("CREATE TABLE")) {
            druid(text.replaceAll(
                            "(\\w+) AS \\( (CAST \\( .*?) COLLATE (\\w+) \\)( PERSISTED NOT NULL)?", "$1 nvarchar(256)")
                    .replaceAll("DEFAULT \\( NEXT VALUE FOR [^)]+ \\)", "DEFAULT ( 0 )")
                    .replaceAll(" (?:NON)?CLUSTERED", "")
                    .replaceAll("WITH \\( ALLOW_PAGE_LOCKS = OFF \\)", ""));
        } else if (index.matches()) {
            String filter = index.group(2) == null ? "1 = 1" : index.group(2);
            druid("SELECT 1 FROM t WHERE " + filter);
            if (filter.contains(" OR ")) {
                throw new IllegalArgumentException("a filtered index knows no OR: " + text);
            }
        } else {
            throw new IllegalArgumentException("not as expected: " + text);
        }
    }

    private static void set(String text) {
        if (!text.matches("SET @\\w+ = .*")) {
            matches(
                    text,
                    "SET (NOCOUNT (ON|OFF)|NOEXEC OFF|XACT_ABORT (ON|OFF)|LOCK_TIMEOUT (- 1|\\d+)"
                            + "|TRANSACTION ISOLATION LEVEL READ COMMITTED|[A-Z_]+( , [A-Z_]+)* ON)");
        } else {
            druid("SELECT " + text.substring(text.indexOf('=') + 1));
        }
    }

    /** Columns of JSON are read here; and hints are known words, because Druid takes any. */
    private static void druid(String text) {
        String plain = JSON_COLUMNS.matcher(text).replaceAll(m -> Matcher.quoteReplacement(m.group(1)));
        if (plain.startsWith("DELETE ")) { // whose OUTPUT it does not know
            plain = plain.replaceFirst("OUTPUT deleted \\. \\[\\w+] INTO @\\w+ \\( \\w+ \\) ", "");
        }
        if (!plain.startsWith("CREATE ")) { // for the name of a collation would be one of a column to it
            plain = plain.replaceAll(" COLLATE (Latin1|SQL_Latin1)_\\w+", "");
        }
        plain = plain.replaceAll("WITH \\( INDEX \\( \\[\\w+] \\) , ", "WITH ( ");
        Matcher hints = Pattern.compile("WITH \\( ([A-Z]+(?: , [A-Z]+)*) \\)").matcher(plain);
        while (hints.find()) {
            for (String hint : hints.group(1).split(" , ")) {
                if (!HINTS.contains(hint)) {
                    throw new IllegalArgumentException("no hint of ours: " + hint);
                }
            }
        }
        try {
            List<SQLStatement> statements = SQLUtils.parseStatements(plain, DbType.sqlserver);
            if (statements.size() != 1) {
                throw new IllegalArgumentException("more than one statement, or none: " + text);
            }
            statements.get(0).accept(new QualifiedNames());
        } catch (ParserException e) {
            throw new IllegalArgumentException(e.getMessage() + " in: " + text, e);
        }
    }
}
