package dev.outbox.postgres;

import dev.outbox.jdbc.internal.queue.SettlementValues;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Settlement.Kind;
import dev.outbox.spi.Unchanged;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Leases and settlements on their way to a statement, as one array for each column; and what its answer says about them.
 *
 * @param ids what the ids name, so that rows are found by it
 * @param deleteDone whether rows are removed when they are Done
 */
record LeaseColumns(ItemIds ids, boolean deleteDone) {
    void setIds(Query query, List<String> itemIds) throws SQLException {
        query.setArray("ids", ids.type(), column(itemIds, ids::toColumn));
    }

    void setLeases(Query query, List<Lease> leases) throws SQLException {
        query.setArray("ids", ids.type(), column(leases, lease -> ids.toColumn(lease.itemId())))
                .setArray("tokens", "uuid", column(leases, lease -> UUID.fromString(lease.ownerToken())));
    }

    void setSettlements(Query query, List<Settlement> settlements) throws SQLException {
        setLeases(query, SettlementValues.leases(settlements));
        query.set("delete_done", deleteDone)
                .setArray("statuses", "int2", column(settlements, SettlementValues::status))
                .setArray("delays", "int8", column(settlements, LeaseColumns::delay))
                .setArray("errors", "text", column(settlements, SettlementValues::error))
                .setArray("given_back", "int4", column(settlements, Settlement::attemptsGivenBack))
                .setArray("blocks", "bool", column(settlements, SettlementValues::blocksKey));
    }

    /** The ids that the answer does not have. */
    Collection<String> missing(List<String> itemIds, ResultSet rows) throws SQLException {
        List<String> found = new ArrayList<>();
        while (rows.next()) {
            found.add(ids.toItemId(rows.getString(1)));
        }
        if (found.size() == itemIds.size()) {
            return List.of();
        }
        Set<String> missing = new LinkedHashSet<>(itemIds);
        found.forEach(missing::remove);
        return missing;
    }

    /** The leases that are missing from the answer are lost; it says of the others whether they are locked. */
    Unchanged unchanged(List<Lease> leases, ResultSet rows) throws SQLException {
        Set<Lease> lost = new HashSet<>(leases);
        Set<Lease> locked = new HashSet<>();
        while (rows.next()) {
            Lease lease = new Lease(ids.toItemId(rows.getString("id")), rows.getString("token"));
            if (lost.remove(lease) && rows.getBoolean("locked")) { // not the rest of a run, which nobody named
                locked.add(lease);
            }
        }
        return new Unchanged(lost, locked);
    }

    private static @Nullable Long delay(Settlement settlement) {
        return settlement.kind() == Kind.RETRY ? settlement.delay().toNanos() / 1_000 : null;
    }

    private static <T> Object[] column(List<T> list, Function<T, @Nullable Object> field) {
        Object[] column = new Object[list.size()];
        for (int i = 0; i < column.length; i++) {
            column[i] = field.apply(list.get(i));
        }
        return column;
    }
}
