#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

/// Other processors the machine is compared with, by their published figures alone.
namespace systole::baselines {

/// Published watts.
struct Power {
    double tdp_watts = 0.0;
    double idle_watts = 0.0;
    double busy_watts = 0.0;
};

/// The server its dies are sold in.
struct Server {
    std::uint32_t dies = 1;
    double tdp_watts = 0.0;
    double idle_watts = 0.0;
    double busy_watts = 0.0;
};

/// A processor as configs/baselines/*.json describe it; all figures but the server's are of one die.
struct Baseline {
    std::string schema = "sim.baseline/1";
    std::string name;
    std::string description;
    std::uint32_t cores = 1;
    double clock_mhz = 0.0;
    double peak_fp32_gflops = 0.0;  ///< 10^9 a second, a multiply-accumulate counting two
    double peak_int8_gops = 0.0;    ///< the same of 8-bit integers
    double memory_gb_per_s = 0.0;   ///< 10^9 bytes a second
    Power power;
    Server server;
    /// Where numbers come from, by dotted key.
    std::map<std::string, std::string> sources;
};

/// From JSON; `file` leads the messages. Throws ConfigError.
Baseline read_baseline(const nlohmann::json& object, const std::string& file);
Baseline read_baseline(const std::filesystem::path& path);
/// Every key.
nlohmann::ordered_json to_json(const Baseline& baseline);

}  // namespace systole::baselines
