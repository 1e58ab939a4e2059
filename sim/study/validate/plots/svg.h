#pragma once

#include <string>
#include <string_view>
#include <vector>

/// A picture as SVG text, readable on light and dark pages.
namespace systole::validate {

struct Position {
    double x = 0.0;  ///< pixels from the left
    double y = 0.0;  ///< pixels from the top
};

enum class Anchor : unsigned char { Start, Middle, End };

class Svg {
public:
    Svg(double width, double height, std::string_view title);

    /// `style` is a class of the style sheet: "axis", "grid", or "s0", "s1", ... of series; several with
    /// spaces between them ("s1 dashed").
    void line(Position from, Position to, std::string_view style);
    void polyline(const std::vector<Position>& points, std::string_view style);
    void bar(Position top_left, double width, double height, std::string_view style);
    void dot(Position centre, std::string_view style);
    void text(Position at, std::string_view words, Anchor anchor, std::string_view style = "label");
    /// Text that reads upwards.
    void text_upwards(Position at, std::string_view words);

    std::string str() const;

private:
    std::string body_;
};

/// Colours there are for series.
inline constexpr std::size_t series_styles = 6;

}  // namespace systole::validate
