#pragma once

#include <filesystem>
#include <string>

#include "base/whole_file.h"
#include "sim/view/report/figures.h"

namespace systole::report {

/// Creates the folder, and those above it, if they do not exist. Throws OutputError.
void make_folder(const std::filesystem::path& folder);

/// The text of report.json.
std::string to_json_text(const Json& report);

/// The path of the report in a folder.
std::filesystem::path report_path(const std::filesystem::path& folder);

/// The path of the page in a folder.
std::filesystem::path page_path(const std::filesystem::path& folder);

/// Removes the report, and its page, that an earlier run left in the folder.
void remove_report(const std::filesystem::path& folder) noexcept;

}  // namespace systole::report
