#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "sim/study/measure/computer.h"

namespace systole::measure {
namespace {

std::optional<std::uint64_t> read_number(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    if (!(file >> number)) return std::nullopt;
    return number;
}

/// Whether the folder is that of a package: "intel-rapl:0", not a part of it such as "intel-rapl:0:1", nor
/// another zone. (AMD's processors have the same names.)
bool is_package(const std::filesystem::path& folder) {
    const std::string name = folder.filename().string();
    if (!name.starts_with("intel-rapl:") || std::count(name.begin(), name.end(), ':') != 1) return false;
    std::ifstream file(folder / "name");
    std::string zone;
    return file >> zone && zone.starts_with("package");
}

}  // namespace

PackageEnergy::PackageEnergy(const std::filesystem::path& powercap) {
    std::vector<std::filesystem::path> folders;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(powercap, error)) {
        if (is_package(entry.path())) folders.push_back(entry.path());
    }
    if (folders.empty()) {
        why_not_ = fmt::format("{} has no energy counter of a package", powercap.string());
        return;
    }
    std::sort(folders.begin(), folders.end());
    for (const std::filesystem::path& folder : folders) {
        const auto value = read_number(folder / "energy_uj");
        const auto range = read_number(folder / "max_energy_range_uj");
        if (!value || !range) {
            packages_.clear();
            why_not_ = fmt::format("{} cannot be read (root can)", (folder / "energy_uj").string());
            return;
        }
        packages_.push_back({.counter = folder / "energy_uj", .range = *range, .last = *value});
    }
}

double PackageEnergy::joules() {
    if (!readable()) throw std::logic_error(why_not_);
    std::uint64_t microjoules = 0;
    for (Package& package : packages_) {
        const std::uint64_t now = read_number(package.counter).value_or(package.last);
        microjoules += now >= package.last ? now - package.last : package.range - package.last + now;
        package.last = now;
    }
    return static_cast<double>(microjoules) * 1e-6;
}

}  // namespace systole::measure
