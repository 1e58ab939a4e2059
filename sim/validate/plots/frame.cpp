#include "sim/validate/plots/frame.h"

#include <fmt/format.h>

#include <cmath>

namespace systole::validate {

Axis::Axis(double least, double most, double from_pixel, double to_pixel, bool logarithmic)
    : logarithmic_(logarithmic), least_(place(least)), most_(place(most)), from_(from_pixel), to_(to_pixel) {}

double Axis::place(double value) const {
    return logarithmic_ ? std::log10(value) : value;
}

double Axis::pixel(double value) const {
    return from_ + (place(value) - least_) / (most_ - least_) * (to_ - from_);
}

void draw_legend(Svg& svg, const std::vector<std::pair<std::string, std::string>>& entries) {
    constexpr double letter = 6.6;  // wide, about
    constexpr double sign = 30.0;
    double x = area_left;
    for (const auto& [name, style] : entries) {
        const bool is_curve = style.find("curve") != std::string::npos;
        if (is_curve) {
            svg.line({x, 46.0}, {x + 20.0, 46.0}, style);
        } else {
            svg.bar({x + 4.0, 40.0}, 12.0, 12.0, style);
        }
        svg.text({x + sign - 4.0, 50.0}, name, Anchor::Start);
        x += sign + letter * static_cast<double>(name.size()) + 12.0;
    }
}

void draw_y_axis(Svg& svg, const Axis& axis, const std::vector<double>& ticks, const std::string& label) {
    for (const double tick : ticks) {
        const double y = axis.pixel(tick);
        svg.line({area_left, y}, {area_right, y}, tick == 0.0 ? "axis" : "grid");
        svg.text({area_left - 6.0, y + 4.0}, tick_text(tick), Anchor::End);
    }
    svg.line({area_left, area_top}, {area_left, area_bottom}, "axis");
    svg.text_upwards({16.0, (area_top + area_bottom) / 2.0}, label);
}

std::string tick_text(double value) {
    return fmt::format("{:g}", std::round(value * 1000.0) / 1000.0 + 0.0);
}

}  // namespace systole::validate
