#include <string>

#include "sim/validate/plots/chart.h"
#include "sim/validate/plots/frame.h"

namespace systole::validate {

std::string to_svg(const LineChart& chart) {
    const Axis x(chart.x_ticks.front(), chart.x_ticks.back(), area_left, area_right, chart.logarithmic_x);
    const Axis y(chart.y_ticks.front(), chart.y_ticks.back(), area_bottom, area_top, chart.logarithmic_y);
    Svg svg(chart_width, chart_height, chart.title);
    draw_y_axis(svg, y, chart.y_ticks, chart.y_label);
    for (const double tick : chart.x_ticks) {
        svg.line({x.pixel(tick), area_bottom}, {x.pixel(tick), area_bottom + 5.0}, "axis");
        svg.text({x.pixel(tick), area_bottom + 18.0}, tick_text(tick), Anchor::Middle);
    }
    svg.line({area_left, area_bottom}, {area_right, area_bottom}, "axis");
    svg.text({(area_left + area_right) / 2.0, area_bottom + 38.0}, chart.x_label, Anchor::Middle);

    std::vector<std::pair<std::string, std::string>> legend;
    for (const LineChart::Series& series : chart.series) {
        const std::string colour = "s" + std::to_string(series.style);
        const std::string stroke = colour + (series.dashed ? " dashed" : "");
        if (!series.name.empty())
            legend.emplace_back(series.name, series.joined ? "curve " + stroke : colour);
        std::vector<Position> line;
        for (const LineChart::Point& point : series.points)
            line.push_back({x.pixel(point.x), y.pixel(point.y)});
        if (series.joined) svg.polyline(line, stroke);
        for (std::size_t i = 0; series.dots && i < line.size(); ++i) {
            svg.dot(line[i], colour);
            if (!series.points[i].label.empty()) {
                svg.text({line[i].x + 7.0, line[i].y - 6.0}, series.points[i].label, Anchor::Start);
            }
        }
    }
    draw_legend(svg, legend);
    return svg.str();
}

}  // namespace systole::validate
