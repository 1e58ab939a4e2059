#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "sim/study/validate/plots/chart.h"
#include "sim/study/validate/plots/frame.h"

namespace systole::validate {

std::vector<double> logarithmic_ticks(double most) {
    std::vector<double> ticks{1.0};
    const std::array<double, 3> factors{2.0, 2.5, 2.0};
    do ticks.push_back(ticks.back() * factors[(ticks.size() - 1) % factors.size()]);
    while (ticks.back() < most);
    return ticks;
}

std::vector<double> round_ticks(double least, double most, unsigned count) {
    double step = 1e-6;
    const std::array<double, 3> factors{2.0, 2.5, 2.0};  // 1, 2, 5, 10, ...
    for (std::size_t i = 0; (most - least) / step > count; ++i) step *= factors[i % factors.size()];
    std::vector<double> ticks;
    for (double i = std::floor(least / step); ticks.empty() || ticks.back() < most; i += 1.0) {
        ticks.push_back(i * step);
    }
    return ticks;
}

std::string to_svg(const BarChart& chart) {
    double least = 0.0;
    double most = 0.0;
    for (const BarChart::Series& series : chart.series) {
        for (const double value : series.values) {
            least = std::min(least, value);
            most = std::max(most, value);
        }
    }
    const std::vector<double> ticks =
        chart.logarithmic ? logarithmic_ticks(most) : round_ticks(least, most, 8);
    const Axis axis(ticks.front(), ticks.back(), area_bottom, area_top, chart.logarithmic);
    const double zero = axis.pixel(chart.logarithmic ? 1.0 : 0.0);

    Svg svg(chart_width, chart_height, chart.title);
    std::vector<LegendEntry> legend;
    for (const BarChart::Series& series : chart.series) {
        legend.push_back({series.name, "s" + std::to_string(series.style), LegendEntry::Sign::Bar});
    }
    draw_legend(svg, legend);
    draw_x_label(svg, chart.x_label);
    draw_y_axis(svg, axis, ticks, chart.y_label);
    const double group_width = (area_right - area_left) / static_cast<double>(chart.groups.size());
    const double width = 0.8 * group_width / static_cast<double>(chart.series.size());
    for (std::size_t group = 0; group < chart.groups.size(); ++group) {
        const double left = area_left + (static_cast<double>(group) + 0.1) * group_width;
        for (std::size_t i = 0; i < chart.series.size(); ++i) {
            const double value = chart.series[i].values.at(group);
            const double y = axis.pixel(chart.logarithmic ? std::max(value, 1.0) : value);
            svg.bar({left + static_cast<double>(i) * width, std::min(y, zero)}, width * 0.92,
                    std::abs(y - zero), legend[i].style);
        }
        svg.text({left + 0.4 * group_width, area_bottom + 18.0}, chart.groups[group], Anchor::Middle);
    }
    svg.line({area_left, zero}, {area_right, zero}, "axis");
    return svg.str();
}

}  // namespace systole::validate
