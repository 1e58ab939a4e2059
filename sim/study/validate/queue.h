#pragma once

#include <span>

#include "sim/study/sweep/expression.h"

/// A queue with Poisson arrivals and one server that takes the same time for each (M/D/1): batches of
/// inferences on a chip.
namespace systole::validate {

/// The time, in service times, within which a share `percentile` (0 to 1) of all arrivals is served, at
/// `load` (arrivals per service time, below 1). From Franx's formula for the waiting time, whose terms are
/// all positive: "A simple solution for the M/D/c waiting time distribution", Operations Research Letters 29,
/// 2001. To one thousandth of a service time. Throws std::invalid_argument for a load not within (0, 1).
double response_time(double load, double percentile);

/// The largest load, to one thousandth, at which response_time is at most `limit`; 0 if there is none.
double largest_load(double limit, double percentile);

/// Both as functions of formulas: without a value for a load from 0.99 on, and for a percentile that is not
/// within 0 and 0.99999.
std::span<const sweep::BinaryFunction> queue_functions();

}  // namespace systole::validate
