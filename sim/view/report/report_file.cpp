#include "sim/view/report/report_file.h"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace systole::report {

void make_folder(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (!error && std::filesystem::is_directory(folder)) return;
    throw OutputError(fmt::format("{}: the folder cannot be made: {}", folder.string(),
                                  error ? error.message() : "a file has that name"));
}

std::string to_json_text(const Json& report) {
    // Texts from files may contain invalid UTF-8, which is replaced.
    constexpr auto replace = Json::error_handler_t::replace;
    return report.dump(2, ' ', false, replace);
}

std::filesystem::path report_path(const std::filesystem::path& folder) {
    return folder / "report.json";
}

std::filesystem::path page_path(const std::filesystem::path& folder) {
    return folder / "report.html";
}

void remove_report(const std::filesystem::path& folder) noexcept {
    constexpr std::string_view beginning =
        "{\n  \"schema\": \"sim.report/";  // not that of another program's file
    std::ifstream file(report_path(folder), std::ios::binary);
    std::string found(beginning.size(), '\0');
    file.read(found.data(), static_cast<std::streamsize>(found.size()));
    if (found != beginning) return;
    std::error_code error;
    std::filesystem::remove(report_path(folder), error);
    std::filesystem::remove(page_path(folder), error);
}

}  // namespace systole::report
