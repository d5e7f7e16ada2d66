package dev.outbox.jdbc.internal.queue;

import dev.outbox.OnDead;
import dev.outbox.Status;
import dev.outbox.jdbc.internal.sql.StorableText;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Settlement.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a settlement writes into the columns of its row. */
public final class SettlementValues {
    private SettlementValues() {}

    public static List<Lease> leases(List<Settlement> settlements) {
        return settlements.stream().map(Settlement::lease).toList();
    }

    public static int status(Settlement settlement) {
        return switch (settlement.kind()) {
            case RETRY, RELEASE -> Status.READY.code();
            case DONE -> Status.DONE.code();
            case DEAD -> Status.DEAD.code();
        };
    }

    /** Error texts come from anywhere: what the column cannot hold is replaced. */
    public static @Nullable String error(Settlement settlement) {
        return settlement.error() == null ? null : StorableText.wellFormed(settlement.error());
    }

    /** Whether the row holds back its key for as long as it is Dead. */
    public static boolean blocksKey(Settlement settlement) {
        return settlement.kind() == Kind.DEAD && settlement.onDead() == OnDead.BLOCK;
    }
}
