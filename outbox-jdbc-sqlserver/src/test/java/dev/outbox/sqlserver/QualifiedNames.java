package dev.outbox.sqlserver;

import com.alibaba.druid.sql.ast.SQLExpr;
import com.alibaba.druid.sql.ast.SQLObject;
import com.alibaba.druid.sql.ast.expr.SQLIdentifierExpr;
import com.alibaba.druid.sql.ast.expr.SQLPropertyExpr;
import com.alibaba.druid.sql.ast.statement.SQLDeleteStatement;
import com.alibaba.druid.sql.ast.statement.SQLExprTableSource;
import com.alibaba.druid.sql.ast.statement.SQLJoinTableSource;
import com.alibaba.druid.sql.ast.statement.SQLSelectItem;
import com.alibaba.druid.sql.ast.statement.SQLSelectQueryBlock;
import com.alibaba.druid.sql.ast.statement.SQLTableSource;
import com.alibaba.druid.sql.ast.statement.SQLUpdateSetItem;
import com.alibaba.druid.sql.ast.statement.SQLUpdateStatement;
import com.alibaba.druid.sql.dialect.sqlserver.visitor.SQLServerASTVisitorAdapter;
import java.util.Set;

/**
 * Where a statement reads the user's table, which may have columns of any name, every column of ours says whose it is:
 * either it is quoted, being the table's, or it is qualified.
 */
final class QualifiedNames extends SQLServerASTVisitorAdapter {
    private static final Set<String> PARTS = Set.of("day", "second", "millisecond", "microsecond");

    @Override
    public boolean visit(SQLIdentifierExpr name) {
        String text = name.getName();
        boolean column = name.getParent() instanceof SQLExpr
                || name.getParent() instanceof SQLSelectItem
                || name.getParent() instanceof SQLUpdateSetItem
                || isBlock(name.getParent());
        if (column
                && !(name.getParent() instanceof SQLPropertyExpr)
                && text.matches("\\w+")
                && !PARTS.contains(text)
                && readsTheUsersTable(name)) {
            throw new IllegalArgumentException(text + " may be a column of the table's: qualify it");
        }
        return true;
    }

    private static boolean isBlock(SQLObject object) {
        return object instanceof SQLSelectQueryBlock
                || object instanceof SQLUpdateStatement
                || object instanceof SQLDeleteStatement;
    }

    private static boolean readsTheUsersTable(SQLObject object) {
        SQLObject block = object;
        while (block != null && !isBlock(block)) {
            block = block.getParent();
        }
        if (block instanceof SQLSelectQueryBlock select) {
            return isTheUsers(select.getFrom());
        }
        if (block instanceof SQLUpdateStatement update) {
            return isTheUsers(update.getTableSource()) || isTheUsers(update.getFrom());
        }
        return block instanceof SQLDeleteStatement delete
                && (isTheUsers(delete.getTableSource()) || isTheUsers(delete.getFrom()));
    }

    private static boolean isTheUsers(SQLTableSource source) {
        if (source instanceof SQLJoinTableSource join) {
            return isTheUsers(join.getLeft()) || isTheUsers(join.getRight());
        }
        return source instanceof SQLExprTableSource table
                && String.valueOf(table.getExpr()).endsWith("[inbox]");
    }
}
