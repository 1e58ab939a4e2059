#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/validate/baseline_errors.h"
#include "sim/study/validate/formulas.h"
#include "sim/study/validate/target.h"

/// Every published figure that the simulator or a model gives, with its error. None is left out.
namespace systole::validate {

struct Figure {
    std::string place;  ///< "Table 3, row 4"
    std::string what;   ///< "MLP0"
    Origin origin = Origin::Simulated;
    double published = 0.0;
    std::optional<double> ours;           ///< absent: our model has no value there
    std::optional<double> roofline = {};  ///< by a roofline; absent: it has no value there
    bool has_roofline = false;            ///< whether one should have
    int digits = 1;  ///< behind the point, of both; a model's figure is shown with two in all

    /// Ours over published, minus 1, as a fraction. A published 0 has the error 0 if ours is 0 at its digits,
    /// else none. Absent counts as a miss.
    std::optional<double> error() const;
    std::optional<double> roofline_error() const;
};

/// In the order of the target's file. Throws ConfigError for a published figure without a value.
std::vector<Figure> figures_of(const Target& target, const BaselineErrors& baselines, Formulas& formulas);

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
