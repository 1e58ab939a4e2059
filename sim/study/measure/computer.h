#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

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

}  // namespace systole::measure
