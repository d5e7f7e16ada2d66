package dev.outbox.sqlserver;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
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

    /** Found out by the test itself. */
    @Override
    public void executionFinished(TestIdentifier what, TestExecutionResult result) {
        if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
            String reason = result.getThrowable().map(Throwable::getMessage).orElse("no reason given");
            skipped.merge(reason.lines().findFirst().orElse(reason), 1L, Long::sum);
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        if (!skipped.isEmpty()) {
            long all = skipped.values().stream().mapToLong(Long::longValue).sum();
            System.out.println("SQL Server: " + all + " tests skipped " + new TreeMap<>(skipped));
        }
    }
}
