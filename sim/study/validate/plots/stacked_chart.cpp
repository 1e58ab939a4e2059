#include <string>

#include "sim/study/validate/plots/chart.h"
#include "sim/study/validate/plots/frame.h"

namespace systole::validate {

std::string to_svg(const StackedChart& chart) {
    const std::vector<double> ticks = round_ticks(0.0, chart.most, 6);
    const Axis axis(ticks.front(), ticks.back(), area_bottom - 14.0, area_top, false);
    Svg svg(chart_width, chart_height, chart.title);
    std::vector<LegendEntry> legend;
    for (std::size_t part = 0; part < chart.parts.size(); ++part) {
        legend.push_back({chart.parts[part], "s" + std::to_string(part), LegendEntry::Sign::Bar});
    }
    draw_legend(svg, legend);
    draw_y_axis(svg, axis, ticks, chart.y_label);
    const double group_width = (area_right - area_left) / static_cast<double>(chart.groups.size());
    for (std::size_t group = 0; group < chart.groups.size(); ++group) {
        const StackedChart::Group& columns = chart.groups[group];
        const double width = 0.84 * group_width / static_cast<double>(columns.columns.size());
        const double left = area_left + (static_cast<double>(group) + 0.08) * group_width;
        for (std::size_t i = 0; i < columns.columns.size(); ++i) {
            const double x = left + static_cast<double>(i) * width;
            double height = 0.0;
            for (std::size_t part = 0; part < columns.columns[i].size(); ++part) {
                const double bottom = axis.pixel(height);
                height += columns.columns[i][part];
                const double top = axis.pixel(height);
                svg.bar({x, top}, width * 0.9, bottom - top, legend[part].style);
            }
            svg.text({x + width * 0.45, area_bottom + 1.0}, chart.column_names[i], Anchor::Middle);
        }
        svg.text({left + 0.42 * group_width, area_bottom + 20.0}, columns.name, Anchor::Middle);
    }
    return svg.str();
}

}  // namespace systole::validate
