#pragma once

#include <string>

#include "sim/study/validate/validate.h"
#include "sim/view/table/table.h"

namespace systole::validate {

/// Throws ConfigError for the name of no study; `file` leads the message.
void check_study(const std::string& study, const std::string& table, const std::string& file);

/// Adds the rows of a study of the validation to a table, and its notes. Throws ConfigError for a name of
/// none.
void add_study_rows(const std::string& study, const Results& results, tables::Table& to);

}  // namespace systole::validate
