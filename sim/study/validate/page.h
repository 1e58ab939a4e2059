#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sim/study/validate/results.h"

/// The page of the validation: hand-written prose with tables and plots.
namespace systole::validate {

/// The values of the template's placeholders: {{table_3}}, {{plot_table_3}}, and single values such as
/// {{mean_error}}.
std::map<std::string, std::string> placeholders(const Results& results, const std::string& plot_folder);

/// Inserts the values into the template. Throws ConfigError, led by `file`, for a placeholder without a
/// value, for one that is not closed, and for a table or plot that the template does not show.
std::string fill(std::string_view text, const std::map<std::string, std::string>& values,
                 const std::string& file);

}  // namespace systole::validate
