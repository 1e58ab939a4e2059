#pragma once

#include <filesystem>
#include <string>

#include "hw/base/user_error.h"
#include "sim/view/report/report.h"

namespace systole::report {

/// A result cannot be written. The message is one line with file and reason.
class OutputError : public UserError {
public:
    using UserError::UserError;
};

/// Creates the folder, and those above it, if they do not exist. Throws OutputError.
void make_folder(const std::filesystem::path& folder);

/// Writes a whole file, or throws OutputError.
void write_file(const std::filesystem::path& path, const std::string& contents);

/// The text of report.json.
std::string to_json_text(const Report& report);

/// The path of the report in a folder.
std::filesystem::path report_path(const std::filesystem::path& folder);

/// The path of the page in a folder.
std::filesystem::path page_path(const std::filesystem::path& folder);

/// Writes report.json into the folder, which is created if it does not exist. Throws OutputError.
void write_report(const Report& report, const std::filesystem::path& folder);

}  // namespace systole::report
