#include "sim/study/measure/computer.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "sim/run/execute/executor.h"

namespace systole::measure {
namespace {

/// The value of the first line "key : value" of a file.
std::string value_in(const std::filesystem::path& path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos || !line.starts_with(key)) continue;
        if (line.find_first_not_of(" \t", key.size()) != colon) continue;
        const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
        return begin == std::string::npos ? "" : line.substr(begin);
    }
    return {};
}

std::string first_line(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// The positive number at the beginning of a text.
std::optional<double> number_in(const std::string& text) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !(number > 0.0)) return std::nullopt;
    return number;
}

/// The bytes of "32768K"; 0 if the text has no number.
std::uint64_t cache_size(const std::string& text) {
    const std::optional<double> number = number_in(text);
    if (!number) return 0;
    const char unit = text.back();
    const double bytes = unit == 'K' ? 1024.0 : unit == 'M' ? 1024.0 * 1024.0 : 1.0;
    return static_cast<std::uint64_t>(*number * bytes);
}

std::uint64_t largest_cache(const std::filesystem::path& caches) {
    std::uint64_t largest = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(caches, error)) {
        largest = std::max(largest, cache_size(first_line(entry.path() / "size")));
    }
    return largest;
}

}  // namespace

Computer read_computer(const std::filesystem::path& cpuinfo, const std::filesystem::path& cpus) {
    Computer computer;
    computer.name = value_in(cpuinfo, "model name");
    if (computer.name.empty()) computer.name = "unknown processor";
    computer.cores = run::cores();
    constexpr double kilohertz_in_megahertz = 1000.0;
    if (const auto kilohertz = number_in(first_line(cpus / "cpu0/cpufreq/cpuinfo_max_freq"))) {
        computer.clock_mhz = *kilohertz / kilohertz_in_megahertz;
        computer.clock_source = "highest clock, by the operating system's cpufreq";
    } else if (const auto megahertz = number_in(value_in(cpuinfo, "cpu MHz"))) {
        computer.clock_mhz = *megahertz;
        computer.clock_source = "clock at the time, by /proc/cpuinfo";
    }
    computer.cache_bytes = largest_cache(cpus / "cpu0/cache");
    return computer;
}

}  // namespace systole::measure
