package dev.outbox.jdbc.internal.catalog;

import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import java.util.EnumMap;
import java.util.Map;

/**
 * From which {@link Phase} on a table has what a message may ask for: before it there is no column for it, or somebody may
 * still read the table who would not heed it.
 *
 * @param from the first phase that has it; what is not in it every phase has
 */
public record Capabilities(Map<Capability, Phase> from) {
    private static final Map<Capability, Phase> ALL = Map.of(
            Capability.HEADERS, Phase.DUAL,
            Capability.CONTENT_TYPE, Phase.DUAL,
            Capability.TENANT, Phase.DUAL,
            Capability.PRIORITY, Phase.DUAL,
            Capability.KEY, Phase.FLIPPED,
            Capability.BINARY_PAYLOAD, Phase.FLIPPED);

    private static final Capabilities POSTGRES_OUTBOX = and(Map.of(Capability.ANY_MESSAGE_ID, Phase.FLIPPED));

    private static final Capabilities POSTGRES_INBOX =
            and(Map.of(Capability.INBOX_CORRELATION, Phase.DUAL, Capability.MANY_SOURCES, Phase.FLIPPED));

    /** The old column of the message id may be unique there, and then takes no more than one null. */
    private static final Capabilities SQLSERVER_OUTBOX = and(Map.of(Capability.ANY_MESSAGE_ID, Phase.CLEAN));

    /**
     * An inbox is claimed by its old status until the flip. SQL Server would rewrite the table to replace its key, so that
     * comes last.
     */
    private static final Capabilities SQLSERVER_INBOX = and(Map.of(
            Capability.PRIORITY, Phase.FLIPPED,
            Capability.INBOX_CORRELATION, Phase.DUAL,
            Capability.MANY_SOURCES, Phase.CLEAN));

    public Capabilities {
        from = Map.copyOf(from);
    }

    private static Capabilities and(Map<Capability, Phase> more) {
        Map<Capability, Phase> from = new EnumMap<>(ALL);
        from.putAll(more);
        return new Capabilities(from);
    }

    public static Capabilities of(Database database, TableKind kind) {
        boolean outbox = kind == TableKind.OUTBOX;
        return switch (database) {
            case POSTGRES -> outbox ? POSTGRES_OUTBOX : POSTGRES_INBOX;
            case SQLSERVER -> outbox ? SQLSERVER_OUTBOX : SQLSERVER_INBOX;
        };
    }

    /** Whether a table has it in this phase. */
    public boolean have(Capability capability, Phase phase) {
        return !phase.before(first(capability));
    }

    /** Refuses a message that asks for what the phase of the table lacks. */
    public void check(Message message, TableName table, Phase phase) {
        for (Capability capability : Capability.values()) {
            if (!have(capability, phase) && capability.isAskedForBy(message)) {
                throw refusal(capability, table, phase);
            }
        }
    }

    /** What to throw where it is asked for in a phase that lacks it. */
    public OutboxException refusal(Capability capability, TableName table, Phase phase) {
        return new OutboxException("the schema must be in " + first(capability) + " for " + capability.what()
                + ", but table \"" + table + "\" is in " + phase
                + "; do without it, or apply the migrations up to that phase first");
    }

    private Phase first(Capability capability) {
        return from.getOrDefault(capability, Phase.LEGACY);
    }
}
