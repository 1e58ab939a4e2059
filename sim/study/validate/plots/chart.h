#pragma once

#include <string>
#include <vector>

/// Charts with axes, labels and a legend.
namespace systole::validate {

/// A bar for each group and series, beside each other; negative ones hang down.
struct BarChart {
    std::string title;
    std::string x_label = {};
    std::string y_label;
    std::vector<std::string> groups;
    struct Series {
        std::string name;
        std::vector<double> values;  ///< one a group
        std::size_t style = 0;
    };
    std::vector<Series> series;
    bool logarithmic = false;  ///< values are all at least 1 then
};
std::string to_svg(const BarChart& chart);

/// Columns of parts on top of each other, a few for each group.
struct StackedChart {
    std::string title;
    std::string y_label;
    std::vector<std::string> parts;
    std::vector<std::string> column_names;  ///< the same for each group
    struct Group {
        std::string name;
        std::vector<std::vector<double>> columns;  ///< a value a part, all positive
    };
    std::vector<Group> groups;
    double most = 100.0;  ///< of a column
};
std::string to_svg(const StackedChart& chart);

/// Lines or dots over a plane.
struct LineChart {
    std::string title;
    std::string x_label;
    std::string y_label;
    struct Point {
        double x = 0.0;
        double y = 0.0;
        std::string label = {};  ///< beside the dot
    };
    struct Series {
        std::string name;
        std::vector<Point> points;
        std::size_t style = 0;
        bool dashed = false;
        bool joined = true;  ///< by a line
        bool dots = true;
    };
    std::vector<Series> series;
    std::vector<double> x_ticks;  ///< of which the first and last are the ends of the axis; likewise y
    std::vector<double> y_ticks;
    bool logarithmic_x = false;
    bool logarithmic_y = false;
};
std::string to_svg(const LineChart& chart);

/// Round values from at most `least` to at least `most`, both among them or beyond: 1, 2 or 5 times a power
/// of ten apart, about `count` of them.
std::vector<double> round_ticks(double least, double most, unsigned count);

/// 1, 2, 5, 10, ... up to at least `most`.
std::vector<double> logarithmic_ticks(double most);

}  // namespace systole::validate
