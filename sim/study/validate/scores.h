#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/validate/validate.h"

/// Every published figure that the simulator or a model gives, with its error. None is left out.
namespace systole::validate {

/// What our figure is made of.
enum class Origin : std::uint8_t {
    Simulated,  ///< from the cycles, counters or energy of our runs alone
    WithHost,   ///< the same, with the host's time of Table 5 in addition, which is published
    Input,      ///< a published number that the machine file repeats, or one that is calibrated to it, or a
                ///< straight line between two of these
    Inherited,  ///< a published ratio times our row 2 of Table 3 over the published one, or the published
                ///< watts
    Model,      ///< from the models of CPU and GPU, which know two watts and three efficiencies of each
};
inline constexpr std::array<std::string_view, 5> origin_names{
    "simulated", "with the published host time", "input or calibrated", "inherited", "models of CPU and GPU"};

struct Figure {
    std::string place;  ///< "Table 3, row 4"
    std::string what;   ///< "MLP0"
    Origin origin = Origin::Simulated;
    double published = 0.0;
    std::optional<double> ours;           ///< absent: our model has no value there
    std::optional<double> roofline = {};  ///< by the roofline times a constant; absent: it has no value there
    int digits = 1;  ///< behind the point, of both; a model's figure is shown with two in all

    /// Ours over published, minus 1, as a fraction. A published 0 has the error 0 if ours is 0 at its digits,
    /// else none. Absent counts as a miss.
    std::optional<double> error() const;
    std::optional<double> roofline_error() const;
};

/// In the order of the article. Statements in words are not figures: they hold or not (statements_table).
std::vector<Figure> figures_of(const Results& results);

/// How many of some figures are how close.
struct Closeness {
    std::size_t figures = 0;
    std::array<std::size_t, 3> within{};  ///< 5, 10 and 20 %
    double median = 0.0;                  ///< absolute error, misses without a value as the largest
    const Figure* worst = nullptr;        ///< with the largest error, or without one
};
inline constexpr std::array<double, 3> close_bounds{0.05, 0.10, 0.20};
/// `error` is Figure::error, or Figure::roofline_error.
Closeness closeness(const std::vector<const Figure*>& figures,
                    std::optional<double> (Figure::*error)() const = &Figure::error);

}  // namespace systole::validate
