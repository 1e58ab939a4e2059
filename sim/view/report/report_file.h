#pragma once

#include <filesystem>
#include <string>

#include "hw/base/user_error.h"
#include "sim/view/report/report.h"

namespace systole::report {

/// A result cannot be written. The message is one line: file and reason.
class OutputError : public UserError {
public:
    using UserError::UserError;
};

/// The folder, made with those above it where it is not there. Throws OutputError.
void make_folder(const std::filesystem::path& folder);

/// Writes a whole file, or throws OutputError.
void write_file(const std::filesystem::path& path, const std::string& contents);

/// report.json as text.
std::string to_json_text(const Report& report);

/// The report's file in a folder.
std::filesystem::path report_path(const std::filesystem::path& folder);

/// The page's file in a folder.
std::filesystem::path page_path(const std::filesystem::path& folder);

/// report.json in the folder, which is made where it is not there. Throws OutputError.
void write_report(const Report& report, const std::filesystem::path& folder);

}  // namespace systole::report
