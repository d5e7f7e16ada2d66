package dev.outbox.examples;

import dev.outbox.BoundOutbox;
import dev.outbox.Outbox;
import javax.sql.DataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** The beans that Spring Boot would create by itself, and the outbox. */
@Configuration
@EnableTransactionManagement
class SpringConfiguration {
    @Bean
    PlatformTransactionManager transactionManager(DataSource dataSource) {
        return new JdbcTransactionManager(dataSource);
    }

    @Bean
    BoundOutbox boundOutbox(Outbox outbox, DataSource dataSource, PlatformTransactionManager transactions) {
        return outbox.in(new SpringTransaction(dataSource, transactions));
    }

    @Bean
    SpringOrders orders(DataSource dataSource, BoundOutbox outbox) {
        return new SpringOrders(new JdbcTemplate(dataSource), outbox);
    }
}
