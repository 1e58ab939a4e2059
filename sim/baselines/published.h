#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/baselines/network.h"

/// What Jouppi et al., ISCA 2017, publish of CPU and GPU on the six workloads. A multiply-accumulate counts
/// two operations in TeraOps/s and one in operations a weight byte.
namespace systole::baselines::published {

/// Table 1. Layer shapes are not published: see network_of.
struct Workload {
    std::string_view name;
    std::uint32_t weight_layers;  ///< fully connected and convolutional
    std::uint32_t other_layers;   ///< vector and pooling
    std::uint64_t weights;
    double macs_per_weight_byte;  ///< on the TPU, with 8-bit weights
    std::uint32_t batch;          ///< of the TPU
};

inline constexpr std::array workloads{
    Workload{"MLP0", 5, 0, 20'000'000, 200, 200},  Workload{"MLP1", 4, 0, 5'000'000, 168, 168},
    Workload{"LSTM0", 24, 34, 52'000'000, 64, 64}, Workload{"LSTM1", 37, 19, 34'000'000, 96, 96},
    Workload{"CNN0", 16, 0, 8'000'000, 2888, 8},   Workload{"CNN1", 76, 13, 100'000'000, 1750, 32}};

enum class Platform : std::uint8_t { Haswell, K80 };
inline constexpr std::array<std::string_view, 2> platform_names{"haswell_e5_2699_v3", "k80"};

/// What a row's value is.
enum class Measure : std::uint8_t { TeraOps, InferencesPerSecond };

/// A published figure of one die. Figures 6 and 7 print their labels with one digit, 0.2 for all from 0.15 to
/// 0.25, and place them at operations a weight byte, which give the batch with 4-byte weights.
struct Row {
    Platform platform;
    std::string_view source;  ///< "Figure 6", "Table 4", ...
    std::string_view workload;
    std::uint32_t batch;
    Measure measure;
    double value;
    double latency_ms;  ///< 99th percentile; 0: not published
};

/// Rows of Figures 6 and 7 and of Table 4. MLP0 of the figures is at batch 16, where Table 4 has it: its
/// 5,482 inferences/s are Figure 6's 0.2 TeraOps/s, though the figure draws it at 8 operations a weight
/// byte (batch 32).
std::span<const Row> rows();

/// Table 6: K80 over Haswell, a die each, host overhead included. In the order of the workloads.
inline constexpr std::array<double, 6> k80_over_haswell{2.5, 0.3, 0.4, 1.2, 1.6, 2.7};

/// Table 4's caption: the limit of latency of MLP0.
inline constexpr double latency_limit_ms = 7.0;
/// Table 4: the batch of CPU and GPU under it.
inline constexpr double batch_within_limit = 16.0;

/// Throws std::logic_error for a name that is none of the six.
const Workload& workload(std::string_view name);

/// The workload with its weights shared out evenly to its layers, the only thing that is published. Every
/// weight is used so often as the TPU's batch and operations a weight byte say. Activations are not
/// published: they are taken to stay on the die.
Network network_of(const Workload& workload);

}  // namespace systole::baselines::published
