#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace systole::measure {

/// The energy counters of all processor packages (RAPL), as Linux' powercap shows them.
class PackageEnergy {
public:
    /// Finds the packages; where there are none or they cannot be read, why_not says so.
    explicit PackageEnergy(const std::filesystem::path& powercap = "/sys/class/powercap");

    bool readable() const { return why_not_.empty(); }
    const std::string& why_not() const { return why_not_; }
    std::size_t packages() const { return packages_.size(); }

    /// Joules of all packages since the last call, or since construction; a counter may have wrapped around
    /// once between. Throws std::logic_error where they are not readable.
    double joules();

private:
    struct Package {
        std::filesystem::path counter;
        std::uint64_t range = 0;  ///< the counter's largest value, microjoules
        std::uint64_t last = 0;   ///< microjoules
    };
    std::vector<Package> packages_;
    std::string why_not_;
};

}  // namespace systole::measure
