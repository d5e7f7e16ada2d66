package dev.outbox.benchmarks;

import dev.outbox.admin.Admin;
import dev.outbox.admin.Box;
import dev.outbox.admin.DeadFilter;
import dev.outbox.admin.ItemRef;
import dev.outbox.admin.Page;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The newest dead letter of each table with all but its payload; the id of that one is looked up once. */
final class Show implements Ask.Question {
    private final boolean byHand;
    private final List<ItemRef> items = new ArrayList<>();
    private @Nullable DataSource known;

    Show(boolean byHand) {
        this.byHand = byHand;
    }

    @Override
    public int ask(DataSource pool, Admin admin) throws Exception {
        if (known != pool) {
            known = pool;
            items.clear();
            for (Box box : Box.values()) {
                items.add(admin.deadLetters()
                        .list(DeadFilter.all().in(box), Page.first(1))
                        .items()
                        .get(0)
                        .ref());
            }
        }
        int shown = 0;
        for (ItemRef item : items) {
            shown += byHand
                    ? Ask.rows(pool, """
                            SELECT work_item_id, status, sequence, topic, message_key, message_id, correlation_id, tenant_id, attempt_count, created_on,
                                due_on, processed_on, processed_by, blocks_key, last_error, headers
                            FROM %s WHERE work_item_id = '%s' AND topic IS NOT NULL
                            """.formatted(item.box(), item.id()))
                    : admin.deadLetters().show(item).isPresent() ? 1 : 0;
        }
        return shown;
    }
}
