package dev.outbox.admin.internal;

import java.sql.SQLException;
import java.util.Map;

/** What the doctor checks only on one database, by the names of the checks, in their order. */
public interface Checks {
    Map<String, Check> database();

    Map<String, Check> table(AdminTable table);

    /** One check. */
    interface Check {
        void run(Findings findings) throws SQLException;
    }
}
