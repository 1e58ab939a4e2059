#pragma once

#include <string>
#include <vector>

#include "sim/run/path_finder.h"
#include "sim/study/array_fill/array_fill.h"
#include "sim/study/validate/baseline_errors.h"
#include "sim/study/validate/figures.h"
#include "sim/study/validate/fit.h"
#include "sim/study/validate/formulas.h"
#include "sim/study/validate/runs.h"
#include "sim/study/validate/setup.h"

/// Compares the simulator with published measurements: docs/validation.md.
namespace systole::validate {

/// All that the tables read.
struct Results {
    Setup setup;
    Formulas formulas;  ///< that know all numbers
    Fits fits{};
    BaselineErrors baseline_errors{};
    std::vector<Figure> figures{};
    std::vector<studies::FillRow> array_fill{};  ///< the article's CNN at several sizes, if a table has it
};

/// Reads the files of the target and simulates all that its tables, figures and further numbers need.
/// `target` is a file, or a name in configs/validation. Throws ConfigError, ModelError.
Results validate(const std::string& target, const run::PathFinder& paths);
/// The same with files that are read, all but the article's CNN (`array_fill`).
Results validate(const Setup& setup, const Simulate& simulate);

}  // namespace systole::validate
