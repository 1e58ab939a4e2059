#include <catch2/catch.hpp>
#include <string>

#include "sim/study/validate/plots/chart.h"
#include "sim/study/validate/plots/frame.h"
#include "sim/study/validate/plots/svg.h"

namespace systole::validate {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

TEST_CASE("Ticks are round and hold the values", "[sim][validate]") {
    CHECK(round_ticks(0.0, 100.0, 5) == std::vector<double>{0, 20, 40, 60, 80, 100});
    const std::vector<double> ticks = round_ticks(-3.0, 11.2, 8);
    CHECK(ticks.front() <= -3.0);
    CHECK(ticks.back() >= 11.2);
    CHECK(ticks.size() <= 10);
}

TEST_CASE("An axis turns values into pixels", "[sim][validate]") {
    const Axis linear(0.0, 10.0, 100.0, 0.0, false);
    CHECK(linear.pixel(2.5) == Approx(75.0));
    const Axis logarithmic(1.0, 100.0, 0.0, 200.0, true);
    CHECK(logarithmic.pixel(10.0) == Approx(100.0));
}

TEST_CASE("A bar chart has a bar for each value, and its names", "[sim][validate]") {
    const BarChart chart{.title = "t",
                         .y_label = "y",
                         .groups = {"a", "b & c"},
                         .series = {{.name = "one", .values = {1.0, -2.0}, .style = 0},
                                    {.name = "two", .values = {3.0, 4.0}, .style = 1}}};
    const std::string svg = to_svg(chart);
    CHECK(count(svg, "class=\"bar s0\"") == 3);  // one is the legend's
    CHECK(count(svg, "class=\"bar s1\"") == 3);
    CHECK(svg.find("b &amp; c") != std::string::npos);
    CHECK(svg.find("prefers-color-scheme: dark") != std::string::npos);
    CHECK(svg.find("nan") == std::string::npos);
}

TEST_CASE("Bars of a logarithmic chart begin at its lowest tick", "[sim][validate]") {
    const BarChart chart{.title = "t",
                         .y_label = "y",
                         .groups = {"a"},
                         .series = {{.name = "one", .values = {1.0}, .style = 0}},
                         .logarithmic = true};
    CHECK(logarithmic_ticks(211.0) == std::vector<double>{1, 2, 5, 10, 20, 50, 100, 200, 500});
    CHECK(to_svg(chart).find("height=\"0.0\" class=\"bar s0\"") != std::string::npos);
}

TEST_CASE("Parts of a column stand on each other", "[sim][validate]") {
    const StackedChart chart{.title = "t",
                             .y_label = "y",
                             .parts = {"p", "q"},
                             .column_names = {"x"},
                             .groups = {{.name = "g", .columns = {{25.0, 75.0}}}}};
    const std::string svg = to_svg(chart);
    const double bottom = area_bottom - 14.0;
    const double height = bottom - area_top;
    CHECK(svg.find("height=\"" + std::to_string(static_cast<int>(height * 0.75))) != std::string::npos);
    CHECK(count(svg, "class=\"bar s1\"") == 2);
}

TEST_CASE("A line chart joins its points and labels them", "[sim][validate]") {
    const LineChart chart{.title = "t",
                          .x_label = "x",
                          .y_label = "y",
                          .series = {{.name = "s", .points = {{1, 1, "here"}, {2, 2}}, .style = 2}},
                          .x_ticks = {1, 2},
                          .y_ticks = {0, 1, 2}};
    const std::string svg = to_svg(chart);
    CHECK(count(svg, "<polyline") == 1);
    CHECK(count(svg, "<circle") == 2);
    CHECK(svg.find(">here<") != std::string::npos);
}

TEST_CASE("Where no dots are, there is nothing to label", "[sim][validate]") {
    const LineChart chart{
        .title = "t",
        .x_label = "x",
        .y_label = "y",
        .series = {{.name = {}, .points = {{1, 1, "here"}, {2, 2}}, .style = 0, .dots = false},
                   {.name = "s", .points = {{1, 1, "here"}}, .style = 1, .joined = false}},
        .x_ticks = {1, 2},
        .y_ticks = {0, 1, 2}};
    const std::string svg = to_svg(chart);
    CHECK(count(svg, ">here<") == 1);
    CHECK(count(svg, "<circle") == 2);  // one is the legend's
    CHECK(count(svg, "<polyline") == 1);
}

TEST_CASE("An axis ends with its ticks, and a legend's names do not overlap", "[sim][validate]") {
    const StackedChart chart{.title = "t",
                             .y_label = "y",
                             .parts = {"a long name of many letters", "q"},
                             .column_names = {"x"},
                             .groups = {{.name = "g", .columns = {{25.0, 75.0}}}}};
    const std::string svg = to_svg(chart);
    const std::string ends = "x1=\"66.0\" y1=\"66.0\" x2=\"66.0\" y2=\"334.0\"";
    CHECK(svg.find(ends) != std::string::npos);
    const auto place = [&](const std::string& name) {
        const std::size_t text = svg.rfind("<text x=\"", svg.find(">" + name + "<"));
        return std::stod(svg.substr(text + 9));
    };
    CHECK(place("q") - place("a long name of many letters") > 27 * 6.0);
}

}  // namespace
}  // namespace systole::validate
