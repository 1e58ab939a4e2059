#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/config_description.h"
#include "sim/run/baselines/band.h"

/// Other processors with which the machine is compared: published figures, measured figures, and a model of
/// the speed that their software reaches.
namespace systole::baselines {

/// Watts of one die; 0 where they are not known.
struct Power {
    double tdp_watts = 0.0;
    double idle_watts = 0.0;
    double busy_watts = 0.0;
};

/// The server its dies are sold in; watts are 0 where they are not known.
struct Server {
    std::uint32_t dies = 1;
    double tdp_watts = 0.0;
    double idle_watts = 0.0;
    double busy_watts = 0.0;
    double host_tdp_watts = 0.0;  ///< of the same server without accelerators; 0: the server is the host
};

/// The number format that software computes in.
enum class Precision : std::uint8_t { Fp32, Int8, Fp16, Bf16 };
inline constexpr std::array<std::string_view, 4> precision_names{"fp32", "int8", "fp16", "bf16"};

constexpr std::string_view name_of(Precision precision) {
    return precision_names[static_cast<std::size_t>(precision)];
}

/// The efficiency of software on a die: few parameters, the same for every network. expected.h has the model.
struct Efficiency {
    Precision precision = Precision::Fp32;
    double peak_share = 0.0;          ///< share of the peak that large products reach, 0 to 1; 0: no model
    double memory_share = 0.0;        ///< share of the bandwidth that is reached, 0 to 1
    double layer_microseconds = 0.0;  ///< additional time of each layer: kernel launch, framework
    // The least and the largest known speed over the speed of the model; 0: not known.
    double least_factor = 0.0;
    double most_factor = 0.0;
    double latency_factor = 0.0;      ///< 99th percentile of latency over the time of a batch; 0: not known
    std::uint32_t largest_batch = 0;  ///< within the latency limits of applications; 0: any
    /// "three whole networks": what its rates are known of, where no operator's time is known.
    std::string known_of = {};

    bool known() const { return peak_share > 0.0; }
    /// Absent if it is not known.
    std::optional<Band> band() const;
};

/// Measured times of a network's matrix products on the processor itself.
struct Measured {
    std::string model;  ///< empty: nothing was measured
    std::uint32_t batch = 0;
    double fp32_inferences_per_second = 0.0;
    double int8_inferences_per_second = 0.0;
};

/// A processor as configs/baselines/*.json describe it; all figures but the server's are of one die.
struct Baseline {
    std::string schema = "sim.baseline/1";
    std::string name;
    std::string description;
    std::uint32_t cores = 1;
    double clock_mhz = 0.0;         ///< 0: not known
    double peak_fp32_gflops = 0.0;  ///< 10^9 a second, a multiply-accumulate counting two
    double peak_int8_gops = 0.0;    ///< the same of 8-bit integers; 0: not known
    double peak_fp16_gflops = 0.0;  ///< the same of half precision; 0: not known
    double peak_bf16_gflops = 0.0;  ///< the same of bfloat16; 0: not known
    double memory_gb_per_s = 0.0;   ///< 10^9 bytes a second
    double on_chip_mib = 0.0;       ///< memory on the die, MiB; 0: not known
    Power power;
    Server server;
    Efficiency efficiency;
    Measured measured;
    /// The source of each number, by dotted key.
    std::map<std::string, std::string> sources;
};

/// From JSON; `file` leads the messages. Throws ConfigError.
Baseline read_baseline(const nlohmann::json& object, const std::string& file);
Baseline read_baseline(const std::filesystem::path& path);
/// Writes every key that has a value.
nlohmann::ordered_json to_json(const Baseline& baseline);
/// Describes each key that read_baseline reads.
std::vector<machine::KeyDescription> baseline_keys();

}  // namespace systole::baselines
