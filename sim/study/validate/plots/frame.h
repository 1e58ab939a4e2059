#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/study/validate/plots/svg.h"

/// What charts have in common.
namespace systole::validate {

/// From values to pixels, along an axis.
class Axis {
public:
    Axis(double least, double most, double from_pixel, double to_pixel, bool logarithmic);

    double pixel(double value) const;

private:
    double place(double value) const;

    bool logarithmic_;  // first: the next two are placed by it
    double least_;
    double most_;
    double from_;
    double to_;
};

/// The drawing area of all charts, in pixels.
inline constexpr double chart_width = 720.0;
inline constexpr double chart_height = 400.0;
inline constexpr double area_left = 66.0;
inline constexpr double area_right = chart_width - 24.0;
inline constexpr double area_top = 66.0;
inline constexpr double area_bottom = chart_height - 52.0;

/// A series' name and how it is drawn.
struct LegendEntry {
    enum class Sign : std::uint8_t { Bar, Line, Dot };

    std::string name;
    std::string style;
    Sign sign = Sign::Bar;
};

/// Above the drawing area.
void draw_legend(Svg& svg, const std::vector<LegendEntry>& entries);

/// Horizontal lines with their values; the axis itself from the first tick to the last.
void draw_y_axis(Svg& svg, const Axis& axis, const std::vector<double>& ticks, const std::string& label);

/// What the axis below counts.
void draw_x_label(Svg& svg, const std::string& label);

/// The shortest text of a tick.
std::string tick_text(double value);

}  // namespace systole::validate
