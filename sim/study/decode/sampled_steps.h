#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

/// Steps of which some are simulated, and the others lie on straight lines between these.
namespace systole::decode {

/// The figures of a step, such as its cycles and joules; all steps have as many.
using Figures = std::vector<double>;

/// Simulates the steps of these numbers, in their order.
using Simulate = std::function<std::vector<Figures>(std::span<const std::size_t> steps)>;

struct SampledSteps {
    std::vector<Figures> steps;
    std::vector<bool> simulated;  ///< by step
    /// The largest difference, as a share, between the first figure of a step that was simulated as the
    /// middle of others, and the straight line between these, where it was small enough for the line to be
    /// taken.
    double largest_difference = 0.0;
};

/// Where lines may be straight.
struct Lines {
    std::size_t count = 1;                 ///< steps; at least 1
    std::vector<std::size_t> breaks = {};  ///< steps that begin a line of their own, ascending, each above 0
    double tolerance = 0.0;  ///< of a middle's first figure, as a share of it; below 0: all are simulated
};

/// The first step and the last one of each line are simulated, and the middle between two simulated ones.
/// Where a middle is on the straight line, within the tolerance, the steps beside it are taken from the line.
SampledSteps sample_steps(const Lines& lines, const Simulate& simulate);

}  // namespace systole::decode
