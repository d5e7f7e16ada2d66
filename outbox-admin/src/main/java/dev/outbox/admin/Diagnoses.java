package dev.outbox.admin;

import dev.outbox.admin.Diagnosis.Severity;
import dev.outbox.admin.internal.Findings;
import java.util.ArrayList;
import java.util.List;

/** Makes diagnoses of what one check finds. */
final class Diagnoses implements Findings {
    private final String check;
    private final List<Diagnosis> all = new ArrayList<>();

    Diagnoses(String check) {
        this.check = check;
    }

    List<Diagnosis> all() {
        return all;
    }

    @Override
    public void ok(String what) {
        add(Severity.OK, what, "", "");
    }

    @Override
    public void okIfNothingFound(String what) {
        if (all.isEmpty()) {
            ok(what);
        }
    }

    @Override
    public void note(String what, String evidence, String advice) {
        add(Severity.NOTE, what, evidence, advice);
    }

    @Override
    public void warn(String what, String evidence, String advice) {
        add(Severity.WARN, what, evidence, advice);
    }

    @Override
    public void fail(String what, String evidence, String advice) {
        add(Severity.FAIL, what, evidence, advice);
    }

    @Override
    public void skipped(String why, String evidence, String advice) {
        add(Severity.SKIPPED, why, evidence, advice);
    }

    private void add(Severity severity, String what, String evidence, String advice) {
        all.add(new Diagnosis(check, severity, what, evidence, advice));
    }
}
