package dev.outbox.migrations.internal;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.api.configuration.Configuration;
import org.flywaydb.core.api.migration.BaseJavaMigration;
import org.flywaydb.core.api.migration.Context;
import org.jspecify.annotations.Nullable;

/**
 * A phase as a migration of Flyway. The tables are named by its placeholders: {@code outbox_table}, or {@code
 * inbox_table} with {@code inbox_consumer}, or all three. Where applications look for the phase more rarely than by
 * default, {@code outbox_refresh_interval} says how often, as in {@code PT30S}.
 *
 * <p>It works on connections of its own and in no transaction of Flyway's: a concurrent index build waits for every open
 * one. For the same reason Flyway's lock must not be one: set {@code flyway.postgresql.transactional.lock=false}. A
 * phase that refuses would be a failed migration: ask {@link Upgrade#requireReady} before Flyway is called.
 */
public abstract class FlywayPhase extends BaseJavaMigration {
    private final Phase phase;

    protected FlywayPhase(Phase phase) {
        this.phase = phase;
    }

    @Override
    public final boolean canExecuteInTransaction() {
        return false;
    }

    @Override
    public final void migrate(Context context) {
        Configuration configuration = context.getConfiguration();
        Map<String, String> placeholders = configuration.getPlaceholders();
        String outbox = placeholders.get("outbox_table");
        String inbox = placeholders.get("inbox_table");
        String consumer = placeholders.get("inbox_consumer");
        if (outbox == null && inbox == null) {
            throw new OutboxException("the placeholder outbox_table or inbox_table must name the table to upgrade");
        }
        if (inbox != null && consumer == null) {
            throw new OutboxException("the placeholder inbox_consumer must name the consumer of the rows of " + inbox);
        }
        Duration refreshInterval = refreshInterval(placeholders.get("outbox_refresh_interval"));
        if (outbox != null) {
            apply(
                    Upgrade.outbox(qualified(configuration, outbox)).refreshInterval(refreshInterval),
                    configuration.getDataSource());
        }
        if (inbox != null && consumer != null) {
            apply(
                    Upgrade.inbox(qualified(configuration, inbox), consumer).refreshInterval(refreshInterval),
                    configuration.getDataSource());
        }
    }

    private static Duration refreshInterval(@Nullable String text) {
        try {
            return text == null ? Phase.REFRESH_INTERVAL : Duration.parse(text);
        } catch (DateTimeParseException e) {
            throw new OutboxException(
                    "the placeholder outbox_refresh_interval must be a duration such as PT30S, was " + text, e, false);
        }
    }

    private void apply(Upgrade upgrade, DataSource dataSource) {
        if (phase == Phase.DUAL) {
            upgrade.backfill().run(dataSource);
        }
        upgrade.apply(dataSource, phase);
    }

    private static String qualified(Configuration configuration, String table) {
        String[] schemas = configuration.getSchemas();
        @Nullable
        String schema = configuration.getDefaultSchema() != null || schemas.length == 0
                ? configuration.getDefaultSchema()
                : schemas[0];
        return table.contains(".") || schema == null ? table : schema + "." + table;
    }
}
