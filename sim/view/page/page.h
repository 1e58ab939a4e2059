#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// report.html: one file that opens from disk, loads nothing else, and is made from report.json alone.
namespace systole::page {

/// A report, and its name on a page of several reports.
struct NamedReport {
    std::string name;
    nlohmann::ordered_json report;  ///< schema "sim.report/1"
};

/// Reads and checks a report.json, or the one in a folder; the report's name is the path as given. Throws
/// ConfigError, whose message is one line: file, place, value, rule.
NamedReport read_report(const std::filesystem::path& file_or_folder);

/// Why a file or folder that exists is no report, as "an advice: its page is advice.html"; absent for one
/// that must be read: a folder with a report.json, a file of this kind, or what is damaged and may be one.
std::optional<std::string> no_report_reason(const std::filesystem::path& file_or_folder);

/// Reads and checks the text of a report; `file` leads the messages. Throws ConfigError.
nlohmann::ordered_json parse_report(std::string_view text, const std::string& file);

/// The page of one or more reports. It first shows differences to the report with the index `against`; the
/// reader can choose another. It does not contain the data that it does not show: times of instructions,
/// registers, contents of buffers, all but the first predictions.
std::string to_html(std::span<const NamedReport> reports, std::size_t against = 0);

/// The page of a study: sim/study/sweep/study_page.h makes its data. `point_reports` has a line for each
/// report of a point: its number, a blank, and report.json as a zlib stream in base64.
std::string study_to_html(const nlohmann::ordered_json& study, const std::string& point_reports);

/// JSON that is safe inside a <script> of a page: no part of it ends the element or begins a comment.
std::string to_script_text(const nlohmann::ordered_json& json);

/// The page without reports, as bundled when the program was built: HTML with the places `@FIGURES@`,
/// `@PART_WORDS@`, `@REPORTS@`, `@SIDE_BY_SIDE@`, `@STUDY@` and `@POINT_REPORTS@`.
std::string_view embedded_page();

}  // namespace systole::page
