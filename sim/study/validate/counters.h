#pragma once

#include <array>

#include "sim/study/validate/measurement.h"
#include "sim/study/validate/results.h"

/// Table 3 by our counters.
namespace systole::validate {

/// Row 1 to 9 (index 0 to 8) of Table 3: per cent of cycles, and 10^12 operations a second.
double counter_row(std::size_t row, const Measurement& measured);

/// Mean over the workloads.
double counter_row_mean(std::size_t row, const ByWorkload<Measurement>& measured);

/// Mean absolute difference of the six, in points.
double counter_row_difference(std::size_t row, const Results& results);

/// Of total cycles, signed fractions; mean and largest of their absolute values.
struct CyclesErrors {
    ByWorkload<double> by_workload{};
    double mean = 0.0;
    double largest = 0.0;
};
CyclesErrors cycles_errors(const Results& results);

/// Rows 1, 4, 5, 6: they sum to all cycles.
inline constexpr std::array<std::size_t, 4> partition_rows{0, 3, 4, 5};

/// Ours over published, less one, of each point of Figure 11's five curves.
using SensitivityErrors = std::array<std::array<double, scales.size()>, curve_names.size()>;
SensitivityErrors sensitivity_errors(const Results& results, const Sensitivity& ours);
double largest(const SensitivityErrors& errors);

}  // namespace systole::validate
