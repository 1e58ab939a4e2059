#include "sim/study/validate/plots/frame.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/study/validate/plots/labels.h"

namespace systole::validate {

Axis::Axis(double least, double most, double from_pixel, double to_pixel, bool logarithmic)
    : logarithmic_(logarithmic), least_(place(least)), most_(place(most)), from_(from_pixel), to_(to_pixel) {}

double Axis::place(double value) const {
    return logarithmic_ ? std::log10(value) : value;
}

double Axis::pixel(double value) const {
    return from_ + (place(value) - least_) / (most_ - least_) * (to_ - from_);
}

void draw_legend(Svg& svg, const std::vector<LegendEntry>& entries) {
    constexpr double middle = 46.0;
    constexpr double sign_width = 20.0;
    constexpr double gap = 6.0;  // between a sign and its name
    double x = area_left;
    for (const LegendEntry& entry : entries) {
        switch (entry.sign) {
            case LegendEntry::Sign::Bar:
                svg.bar({x + 8.0, middle - 6.0}, 12.0, 12.0, entry.style);
                break;
            case LegendEntry::Sign::Line:
                svg.line({x, middle}, {x + sign_width, middle}, entry.style);
                break;
            case LegendEntry::Sign::Dot:
                svg.dot({x + sign_width - 6.0, middle}, entry.style);
                break;
        }
        svg.text({x + sign_width + gap, middle + 4.0}, entry.name, Anchor::Start);
        x += sign_width + gap + text_width(entry.name) + 10.0;
    }
}

void draw_y_axis(Svg& svg, const Axis& axis, const std::vector<double>& ticks, const std::string& label) {
    for (const double tick : ticks) {
        const double y = axis.pixel(tick);
        svg.line({area_left, y}, {area_right, y}, tick == 0.0 ? "axis" : "grid");
        svg.text({area_left - 6.0, y + 4.0}, tick_text(tick), Anchor::End);
    }
    svg.line({area_left, axis.pixel(ticks.back())}, {area_left, axis.pixel(ticks.front())}, "axis");
    svg.text_upwards({16.0, (area_top + area_bottom) / 2.0}, label);
}

void draw_x_label(Svg& svg, const std::string& label) {
    svg.text({(area_left + area_right) / 2.0, area_bottom + 38.0}, label, Anchor::Middle);
}

std::string tick_text(double value) {
    return fmt::format("{:g}", std::round(value * 1000.0) / 1000.0 + 0.0);
}

}  // namespace systole::validate
