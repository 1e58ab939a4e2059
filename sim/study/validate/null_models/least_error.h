#pragma once

#include <functional>
#include <span>

namespace systole::null_models {

double mean_absolute(std::span<const double> errors);

/// The constant with which `predict(i, constant)` has the least mean absolute relative error against
/// `measured[i]`. The prediction is linear in the constant, and `exact(i)` is the constant with which it has
/// no error in i. The mean is piecewise linear then, so one of these constants is the best.
double least_error(std::span<const double> measured,
                   const std::function<double(std::size_t, double)>& predict,
                   const std::function<double(std::size_t)>& exact);

/// The factor that brings `predicted` nearest to `measured`.
double best_factor(std::span<const double> measured, std::span<const double> predicted);

/// The number that brings `predicted` nearest to `measured` if so many times it is added.
double best_addend(std::span<const double> measured, std::span<const double> predicted,
                   std::span<const double> times);

}  // namespace systole::null_models
