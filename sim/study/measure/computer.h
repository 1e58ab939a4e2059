#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace systole::measure {

/// This computer, as the operating system describes it.
struct Computer {
    std::string name;               ///< the processor's model name, or "unknown processor"
    std::size_t cores = 1;          ///< cores that this process may use
    double clock_mhz = 0.0;         ///< 0: not known
    std::string clock_source;       ///< where the clock was read, in words
    std::uint64_t cache_bytes = 0;  ///< the largest cache that core 0 sees; 0: not known
};

/// Reads /proc/cpuinfo and /sys/devices/system/cpu; tests pass other paths.
Computer read_computer(const std::filesystem::path& cpuinfo = "/proc/cpuinfo",
                       const std::filesystem::path& cpus = "/sys/devices/system/cpu");

/// The energy counters (RAPL) of all processor packages, read from Linux' powercap.
class PackageEnergy {
public:
    /// Finds the packages. If there are none, or if they cannot be read, `why_not` gives the reason.
    explicit PackageEnergy(const std::filesystem::path& powercap = "/sys/class/powercap");

    bool readable() const { return why_not_.empty(); }
    const std::string& why_not() const { return why_not_; }
    std::size_t packages() const { return packages_.size(); }

    /// Joules of all packages since the last call, or since construction. A counter may wrap around once
    /// between two calls. Throws std::logic_error if the counters are not readable.
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
