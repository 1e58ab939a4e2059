#include <string>

#include "sim/study/validate/plots/chart.h"
#include "sim/study/validate/plots/frame.h"
#include "sim/study/validate/plots/labels.h"

namespace systole::validate {
namespace {

std::string colour_of(const LineChart::Series& series) {
    return "s" + std::to_string(series.style);
}

std::vector<LegendEntry> legend_of(const LineChart& chart) {
    std::vector<LegendEntry> entries;
    for (const LineChart::Series& series : chart.series) {
        if (series.name.empty()) continue;
        if (series.joined) {
            const std::string dashed = series.dashed ? " dashed" : "";
            entries.push_back({series.name, "curve " + colour_of(series) + dashed, LegendEntry::Sign::Line});
        } else {
            entries.push_back({series.name, colour_of(series), LegendEntry::Sign::Dot});
        }
    }
    return entries;
}

}  // namespace

std::string to_svg(const LineChart& chart) {
    const Axis x(chart.x_ticks.front(), chart.x_ticks.back(), area_left, area_right, chart.logarithmic_x);
    const Axis y(chart.y_ticks.front(), chart.y_ticks.back(), area_bottom, area_top, chart.logarithmic_y);
    Svg svg(chart_width, chart_height, chart.title);
    draw_legend(svg, legend_of(chart));
    draw_y_axis(svg, y, chart.y_ticks, chart.y_label);
    for (const double tick : chart.x_ticks) {
        svg.line({x.pixel(tick), area_bottom}, {x.pixel(tick), area_bottom + 5.0}, "axis");
        svg.text({x.pixel(tick), area_bottom + 18.0}, tick_text(tick), Anchor::Middle);
    }
    svg.line({area_left, area_bottom}, {area_right, area_bottom}, "axis");
    draw_x_label(svg, chart.x_label);

    // Lines, then dots on them, then names where neither is.
    Labels labels({area_left, area_top}, {area_right, area_bottom});
    const auto position = [&](const LineChart::Point& point) {
        return Position{x.pixel(point.x), y.pixel(point.y)};
    };
    for (const LineChart::Series& series : chart.series) {
        if (!series.joined) continue;
        std::vector<Position> line;
        for (const LineChart::Point& point : series.points) line.push_back(position(point));
        for (std::size_t i = 1; i < line.size(); ++i) labels.avoid_line(line[i - 1], line[i]);
        svg.polyline(line, colour_of(series) + (series.dashed ? " dashed" : ""));
    }
    for (const LineChart::Series& series : chart.series) {
        if (!series.dots) continue;
        for (const LineChart::Point& point : series.points) {
            svg.dot(position(point), colour_of(series));
            labels.avoid_dot(position(point));
        }
    }
    for (const LineChart::Series& series : chart.series) {
        for (const LineChart::Point& point : series.points) {
            if (!series.dots || point.label.empty()) continue;
            const Labels::Place place = labels.place(position(point), point.label);
            svg.text(place.at, point.label, place.anchor);
        }
    }
    return svg.str();
}

}  // namespace systole::validate
