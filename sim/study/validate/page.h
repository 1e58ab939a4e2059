#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sim/study/validate/results.h"

/// The page that shows the validation: prose by hand, with tables and plots put in.
namespace systole::validate {

/// What the template's placeholders stand for: {{table_3}}, {{plot_table_3}}, and single values such as
/// {{mean_error}}.
std::map<std::string, std::string> placeholders(const Results& results, const std::string& plot_folder);

/// Puts the values into the template. Throws ConfigError, led by `file`, for a placeholder that nothing
/// stands for, one that is not closed, and a table or plot that the template does not show.
std::string fill(std::string_view text, const std::map<std::string, std::string>& values,
                 const std::string& file);

}  // namespace systole::validate
