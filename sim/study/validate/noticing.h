#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/run/record/record.h"
#include "sim/study/validate/published.h"

/// Which published figure would notice that a parameter of the machine is wrong.
namespace systole::validate {

/// The runs on one machine from which figures are computed.
struct MachineRuns {
    ByWorkload<run::RunRecord> workloads;
    run::RunRecord tiling;  ///< the matrix of Table "tiling" of the published figures
};

/// A published figure that follows from runs alone. Shares, in % of cycles or of watts, are compared by their
/// difference in points: near 0, a ratio says nothing. All others, and row 2 of Table 3, by which cycles are
/// compared, are compared by their ratio.
struct NoticingFigure {
    std::string name;  ///< "Table 3, row 4 weight stall, MLP1"
    bool is_share = false;
    double published = 0.0;
    double ours = 0.0;

    /// Absolute; of a share in points, otherwise in %.
    double error() const;
};

/// Table 3, transfers of Table 5, Table 8, peak and watts of Table 2, watts of Figure 10 and section 6, and
/// tiles and time of a matrix of section 7. Figures that need other machines or published time of the host
/// (Tables 4 and 6, Figures 9 and 11) are left out.
std::vector<NoticingFigure> noticing_figures(const Published& published, const MachineRuns& runs);

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
