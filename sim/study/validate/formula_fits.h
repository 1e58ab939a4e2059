#pragma once

#include <set>
#include <string>

#include "sim/study/validate/fit.h"
#include "sim/study/validate/formulas.h"
#include "sim/study/validate/setup.h"

/// Constants that are fitted by formulas, each value of a constant without a simulation of its own.
namespace systole::validate {

/// The names that a fit lets the formulas know, those of rows without their elements:
/// `NAME.constants.KEY` fitted to all elements, `NAME.least.KEY` and `NAME.most.KEY` over the fits that leave
/// some out, and of each workload `NAME.without.KEY`, of the fit that leaves it out (for one that has nothing
/// in common with an element, that of all); of the elements `NAME.errors` and `NAME.left_out`, by the fit
/// without them; of all elements `NAME.error`, `NAME.worst`, `NAME.others_mean` and `NAME.others_worst`.
std::set<std::string> names_of(const FormulaFit& fit);

/// Fits the constants to the elements of the fit's list, once to all and once without those of each text
/// `leave_out`, and lets the formulas know what came out. In the fit's formula `trial.KEY` is a constant.
/// Throws ConfigError where the list or the text is not there, the text is the same for all elements, or the
/// formula has no value for an element.
void know_formula_fit(const FormulaFit& fit, const Setup& setup, Formulas& formulas);

}  // namespace systole::validate
