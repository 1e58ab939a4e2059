#pragma once

#include <map>
#include <string>
#include <string_view>

/// A page of documentation with generated tables.
namespace systole::tables {

/// The template with the text of a table in the place of each {{id}}. Throws ConfigError, led by `file`, for
/// a placeholder without a table, for one that is not closed, and for a table that the template does not
/// show.
std::string filled_page(std::string_view text, const std::map<std::string, std::string>& tables,
                        const std::string& file);

}  // namespace systole::tables
