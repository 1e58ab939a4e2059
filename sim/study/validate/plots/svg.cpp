#include "sim/study/validate/plots/svg.h"

#include <fmt/format.h>

#include <cmath>

namespace systole::validate {
namespace {

/// Colours that stay apart for colour-blind readers (Okabe and Ito), lighter on dark pages.
constexpr std::string_view style_sheet = R"(<style>
text { font: 12px sans-serif; fill: #222; }
.title { font-size: 15px; font-weight: bold; }
.paper { fill: #fff; }
.axis { stroke: #555; fill: none; }
.grid { stroke: #ddd; fill: none; }
.bar { stroke: none; }
.curve { fill: none; stroke-width: 2; }
.dashed { stroke-dasharray: 5 4; }
.s0 { fill: #767676; stroke: #767676; }
.s1 { fill: #0072b2; stroke: #0072b2; }
.s2 { fill: #d55e00; stroke: #d55e00; }
.s3 { fill: #009e73; stroke: #009e73; }
.s4 { fill: #b8559a; stroke: #b8559a; }
.s5 { fill: #a07800; stroke: #a07800; }
.curve.s0, .curve.s1, .curve.s2, .curve.s3, .curve.s4, .curve.s5 { fill: none; }
@media (prefers-color-scheme: dark) {
text { fill: #ddd; }
.paper { fill: #161616; }
.axis { stroke: #aaa; }
.grid { stroke: #383838; }
.s0 { fill: #a5a5a5; stroke: #a5a5a5; }
.s1 { fill: #56b4e9; stroke: #56b4e9; }
.s2 { fill: #ff8c42; stroke: #ff8c42; }
.s3 { fill: #2fc99d; stroke: #2fc99d; }
.s4 { fill: #e08cc4; stroke: #e08cc4; }
.s5 { fill: #e5c13c; stroke: #e5c13c; }
}
</style>
)";

std::string escaped(std::string_view words) {
    std::string text;
    for (const char letter : words) {
        switch (letter) {
            case '&':
                text += "&amp;";
                break;
            case '<':
                text += "&lt;";
                break;
            case '>':
                text += "&gt;";
                break;
            default:
                text += letter;
        }
    }
    return text;
}

/// Tenths of a pixel: no picture differs by the last bit of a sum.
std::string px(double value) {
    const double rounded = std::round(value * 10.0) / 10.0;
    return fmt::format("{:.1f}", rounded == 0.0 ? 0.0 : rounded);
}

std::string_view name_of(Anchor anchor) {
    switch (anchor) {
        case Anchor::Start:
            return "start";
        case Anchor::Middle:
            return "middle";
        case Anchor::End:
            return "end";
    }
    return {};
}

}  // namespace

Svg::Svg(double width, double height, std::string_view title) {
    body_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "role=\"img\">\n<title>{2}</title>\n{3}<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n",
        width, height, escaped(title), style_sheet);
    text({width / 2.0, 22.0}, title, Anchor::Middle, "title");
}

void Svg::line(Position from, Position to, std::string_view style) {
    body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", px(from.x),
                         px(from.y), px(to.x), px(to.y), style);
}

void Svg::polyline(const std::vector<Position>& points, std::string_view style) {
    std::string list;
    for (const Position& point : points) {
        list += fmt::format("{}{},{}", list.empty() ? "" : " ", px(point.x), px(point.y));
    }
    body_ += fmt::format("<polyline points=\"{}\" class=\"curve {}\"/>\n", list, style);
}

void Svg::bar(Position top_left, double width, double height, std::string_view style) {
    body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"bar {}\"/>\n",
                         px(top_left.x), px(top_left.y), px(width), px(height), style);
}

void Svg::dot(Position centre, std::string_view style) {
    body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4\" class=\"{}\"/>\n", px(centre.x), px(centre.y),
                         style);
}

void Svg::text(Position at, std::string_view words, Anchor anchor, std::string_view style) {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", px(at.x),
                         px(at.y), name_of(anchor), style, escaped(words));
}

void Svg::text_upwards(Position at, std::string_view words) {
    body_ += fmt::format(
        "<text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\" transform=\"rotate(-90 {0} {1})\">{2}</text>\n",
        px(at.x), px(at.y), escaped(words));
}

std::string Svg::str() const {
    return body_ + "</svg>\n";
}

}  // namespace systole::validate
