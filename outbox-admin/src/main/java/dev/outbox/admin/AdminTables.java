package dev.outbox.admin;

import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.TableName;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The tables as they are in this call: a migration may be under way, so each call looks again until a table is final. */
final class AdminTables {
    private final AdminSession session;
    private final Map<TableKind, TableName> names;
    private final Map<TableKind, AdminTable> known;

    /** @param known tables that need not be looked at again; grows */
    AdminTables(AdminSession session, Map<TableKind, TableName> names, Map<TableKind, AdminTable> known) {
        this.session = session;
        this.names = names;
        this.known = known;
    }

    /** Those that exist, in whatever phase; at least one. */
    List<AdminTable> all() throws SQLException {
        List<AdminTable> found = new ArrayList<>();
        for (Map.Entry<TableKind, TableName> name : names.entrySet()) {
            find(name.getKey(), name.getValue()).ifPresent(found::add);
        }
        if (found.isEmpty()) {
            throw new NoSuchTableException("there is neither "
                    + String.join(
                            " nor ",
                            names.entrySet().stream()
                                    .map(name -> "an " + name.getKey() + " table \"" + name.getValue() + "\"")
                                    .toList())
                    + "; apply outbox-migrations, or name the tables with outbox(...) and inbox(...)");
        }
        return found;
    }

    /** Those that exist, which must have the new columns; only of this kind if one is given. */
    List<AdminTable> ready(@Nullable TableKind kind) throws SQLException {
        return (kind == null ? all() : List.of(of(kind)))
                .stream().map(AdminTable::ready).toList();
    }

    AdminTable of(TableKind kind) throws SQLException {
        TableName name = names.get(kind);
        Optional<AdminTable> found = name == null ? Optional.empty() : find(kind, name);
        return found.orElseThrow(() -> new NoSuchTableException("there is no " + kind + " table"
                + (name == null ? "" : " \"" + name + "\"") + "; apply outbox-migrations, or name the table with "
                + kind + "(...)"));
    }

    private Optional<AdminTable> find(TableKind kind, TableName name) throws SQLException {
        AdminTable before = known.get(kind);
        if (before != null) {
            return Optional.of(before);
        }
        Optional<AdminTable> found = AdminTable.find(session.connection(), session.dialect(), name, kind);
        found.filter(AdminTable::isFinal).ifPresent(table -> known.put(kind, table));
        return found;
    }
}
