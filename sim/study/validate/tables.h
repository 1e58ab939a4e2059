#pragma once

#include <optional>
#include <vector>

#include "sim/study/validate/formulas.h"
#include "sim/study/validate/target.h"
#include "sim/study/validate/validate.h"
#include "sim/view/table/table.h"

/// The tables of a validation: the target's file says their rows by formulas, and which of the studies adds
/// more.
namespace systole::validate {

/// Title, columns, notes and the rows of the file. Throws ConfigError.
tables::Table table_of(const TableFormulas& table, Formulas& formulas);

/// All tables, in the order of the file, also with the rows of studies ("rows_of"): `figures` (every
/// published figure), `scores` (how many are close, by origin and place), `null_scores` (those that a
/// roofline has, too), `fits`, `baselines` and `array_fill`; a table of `choices` is none of these. Throws
/// ConfigError.
std::vector<tables::Table> all_tables(Results& results);

}  // namespace systole::validate
