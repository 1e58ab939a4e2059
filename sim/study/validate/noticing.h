#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/study/validate/formulas.h"
#include "sim/study/validate/target.h"

/// Which published figure would notice that a parameter of the machine is wrong.
namespace systole::validate {

/// A published figure that follows from runs alone. A share, in % of cycles or of watts, is compared by its
/// difference in points: near 0, a ratio says nothing. Any other is compared by its ratio.
struct NoticingFigure {
    std::string name;  ///< "Table 3, row 4 weight stall, MLP1"
    bool is_share = false;
    double published = 0.0;
    double ours = 0.0;  ///< no number where the machine has none

    /// Absolute; of a share in points, otherwise in %.
    double error() const;
};

/// The target's for a machine of that name, from the runs that the formulas know.
std::vector<NoticingFigure> noticing_figures(const Target& target, const std::string& machine,
                                             Formulas& formulas);

/// An error notices a change if it grows by so much, in % or points.
inline constexpr double least_growth = 5.0;

/// A figure whose error grows with a change.
struct Growth {
    std::string figure;
    bool is_share = false;
    double before = 0.0, after = 0.0;  ///< the figure's error

    bool is_noticed() const { return after - before >= least_growth; }
    /// "Table 3, row 4 weight stall, MLP1: 15.0 -> 27.1 points"
    std::string text() const;
};

/// The figure whose error grows most, the first of several; none if no error grows. Both lists are of
/// noticing_figures.
std::optional<Growth> largest_growth(const std::vector<NoticingFigure>& before,
                                     const std::vector<NoticingFigure>& after);

}  // namespace systole::validate
