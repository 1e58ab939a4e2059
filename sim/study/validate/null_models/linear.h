#pragma once

#include <cstddef>
#include <vector>

/// A model that is a sum: a constant for each of some terms, as so many milliseconds and so many more for
/// each million of multiply-accumulates.
namespace systole::null_models {

/// A measured number, and how often it has each constant.
struct LinearRow {
    double measured = 0.0;  ///< above 0
    std::vector<double> terms;
};

/// What the constants predict.
double predicted(const LinearRow& row, const std::vector<double>& constants);

/// The constants, none below 0, with the least mean absolute relative error: exact, by trying every choice of
/// constants that are not 0 and of as many rows without an error. All rows have the same number of terms. The
/// rows may be too few, or alike; then some constants stay 0. Throws std::invalid_argument for more than
/// `most_terms` terms.
std::vector<double> least_absolute(const std::vector<LinearRow>& rows);
inline constexpr std::size_t most_terms = 4;

}  // namespace systole::null_models
