package dev.outbox.testkit;

import dev.outbox.internal.Require;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each test a PostgreSQL database of its own, with your tables in it. Tests and their {@code @BeforeEach} methods get
 * it as a parameter: a {@link DataSource} (a pool) or the {@link EmbeddedDatabase} itself.
 *
 * <pre>{@code
 * @RegisterExtension
 * static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(OutboxMigrations::install);
 *
 * @Test
 * void theOrderIsAnnounced(DataSource dataSource) { … }
 * }</pre>
 *
 * <p>The tables are created once per test class, in a template. Each test gets a copy, which takes some tens of milliseconds
 * and is dropped after the test. All classes of a JVM share one server, see {@link EmbeddedDatabase}: an embedded one, or
 * the one you configure. A test without such a parameter costs nothing. Thread-safe.
 */
public final class PostgresExtension implements ParameterResolver, AfterEachCallback, AfterAllCallback {
    private static final int POOL_SIZE = 20;

    private final Namespace namespace = Namespace.create(this);
    private final Migration migration;
    private @Nullable EmbeddedDatabase template;

    private PostgresExtension(Migration migration) {
        this.migration = migration;
    }

    /** Creates the tables in an empty database. */
    @FunctionalInterface
    public interface Migration {
        void run(DataSource dataSource) throws Exception;
    }

    /** @param migration runs once per test class; it must leave no connection open */
    public static PostgresExtension migratedBy(Migration migration) {
        return new PostgresExtension(Require.present("migration", migration));
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == DataSource.class || type == EmbeddedDatabase.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        OfTest ofTest = context.getStore(namespace).getOrComputeIfAbsent(OfTest.class, key -> open(), OfTest.class);
        return parameter.getParameter().getType() == DataSource.class ? ofTest.pool : ofTest.database;
    }

    private OfTest open() {
        EmbeddedDatabase database = EmbeddedDatabase.copyOf(template());
        return new OfTest(database, database.pool(POOL_SIZE));
    }

    private synchronized EmbeddedDatabase template() {
        if (template == null) {
            EmbeddedDatabase fresh = EmbeddedDatabase.create();
            try {
                migration.run(fresh.dataSource());
            } catch (Exception e) {
                fresh.close();
                throw new IllegalStateException("the migration of the test database failed: " + e, e);
            }
            template = fresh;
        }
        return template;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        OfTest ofTest = context.getStore(namespace).remove(OfTest.class, OfTest.class);
        if (ofTest != null) {
            ofTest.database.close();
        }
    }

    @Override
    public synchronized void afterAll(ExtensionContext context) {
        if (template != null) {
            template.close();
            template = null;
        }
    }

    private record OfTest(EmbeddedDatabase database, DataSource pool) {}
}
