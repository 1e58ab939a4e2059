#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

/// report.html: one file that opens from disk and asks for nothing else, made from report.json alone.
namespace systole::page {

/// A report, and what the page calls it where there are several.
struct NamedReport {
    std::string name;
    nlohmann::ordered_json report;  ///< schema "sim.report/1"
};

/// Reads and checks a report.json, or that of a folder; its name is the path as given. Throws ConfigError, in
/// one line: file, place, value, rule.
NamedReport read_report(const std::filesystem::path& file_or_folder);

/// The report of a text; `file` leads the messages. Throws ConfigError.
nlohmann::ordered_json parse_report(std::string_view text, const std::string& file);

/// The page of one or more reports; several are compared with the first. What the page does not show (times
/// of instructions, registers, contents of buffers, all but the first predictions) is left out of it.
std::string to_html(std::span<const NamedReport> reports);

/// JSON that may stand inside a <script> of a page: nothing in it ends the element or begins a comment.
std::string to_script_text(const nlohmann::ordered_json& json);

}  // namespace systole::page
