package dev.outbox.benchmarks;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A scenario as bars: one per contender as long as its median, with a line from its lowest to its highest. */
final class Chart {
    private static final int WIDTH = 760;
    private static final int LEFT = 130;
    private static final int BARS = 500;
    private static final int TOP = 56;
    private static final int STEP = 30;
    private static final int THICKNESS = 18;

    private final Scenario scenario;
    private final Results results;

    Chart(Scenario scenario, Results results) {
        this.scenario = scenario;
        this.results = results;
    }

    String svg() {
        List<Contender> contenders = scenario.contenders();
        double longest = contenders.stream()
                .mapToDouble(contender -> {
                    double[] values = values(contender.name());
                    return values.length == 0 ? 0 : values[values.length - 1];
                })
                .max()
                .orElse(0);
        int height = TOP + STEP * contenders.size() + 10;
        StringBuilder svg = new StringBuilder();
        append(
                svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
                        + " font-size=\"13\">",
                WIDTH,
                height);
        append(svg, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>", WIDTH, height);
        append(svg, "<text x=\"10\" y=\"22\" font-size=\"16\" fill=\"#222222\">%s</text>", scenario.name());
        append(
                svg,
                "<text x=\"10\" y=\"42\" fill=\"#666666\">%s</text>",
                scenario.metric().unit());
        for (int i = 0; i < contenders.size(); i++) {
            bar(svg, contenders.get(i).name(), TOP + STEP * i, BARS / Math.max(longest, Double.MIN_NORMAL));
        }
        return svg.append("</svg>\n").toString();
    }

    private void bar(StringBuilder svg, String contender, int top, double scale) {
        Double median = results.median(scenario.name(), contender, this::figure);
        if (median == null) {
            return;
        }
        double[] values = values(contender);
        double lowest = LEFT + values[0] * scale;
        double highest = LEFT + values[values.length - 1] * scale;
        int middle = top + THICKNESS / 2;
        String label = "<text x=\"%.1f\" y=\"%d\" fill=\"#222222\" text-anchor=\"%s\">%s</text>";
        append(svg, label, LEFT - 8.0, top + 14, "end", contender);
        append(
                svg,
                "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>",
                LEFT,
                top,
                median * scale,
                THICKNESS,
                colour(contender));
        append(
                svg,
                "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#222222\"/>",
                lowest,
                middle,
                highest,
                middle);
        String number = String.format(Locale.ROOT, median < 100 ? "%.2f" : "%,.0f", median);
        append(svg, label, highest + 8, top + 14, "start", number);
    }

    private double[] values(String contender) {
        return results.values(scenario.name(), contender, this::figure);
    }

    private @Nullable Double figure(Measurement measurement) {
        return scenario.metric().of(measurement);
    }

    private static String colour(String contender) {
        if (contender.startsWith("ours-")) {
            return "#2f6fb0";
        }
        return contender.startsWith("limit-") ? "#9a9a9a" : "#d08a3c";
    }

    private static void append(StringBuilder svg, String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
