package dev.outbox.sqlserver;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Prints at the end how many tests were skipped and why, so that nobody takes a run without a server for more. */
public final class SkippedTests implements TestExecutionListener {
    private final Map<String, Long> skipped = new ConcurrentHashMap<>();
    private volatile TestPlan plan;

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        this.plan = plan;
    }

    @Override
    public void executionSkipped(TestIdentifier what, String reason) {
        long tests = what.isTest()
                ? 1
                : plan.getDescendants(what).stream()
                        .filter(TestIdentifier::isTest)
                        .count();
        skipped.merge(reason, tests, Long::sum);
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        if (!skipped.isEmpty()) {
            long all = skipped.values().stream().mapToLong(Long::longValue).sum();
            System.out.println("SQL Server: " + all + " tests skipped " + new TreeMap<>(skipped));
        }
    }
}
