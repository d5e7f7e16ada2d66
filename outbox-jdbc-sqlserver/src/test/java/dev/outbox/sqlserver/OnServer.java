package dev.outbox.sqlserver;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests that need this server, skipped with the reason where it is not there or cannot do it. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ExtendWith(ServerCondition.class)
public @interface OnServer {
    Server value();

    Server.Variant variant() default Server.Variant.AS_IT_IS;
}
