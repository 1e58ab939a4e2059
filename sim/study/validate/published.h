#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/study/validate/named.h"
#include "sim/study/validate/workloads.h"

/// What was measured on the real chip, and on those beside it: configs/published/*.json, schema
/// sim.published/1.
namespace systole::validate {

inline constexpr std::array<std::string_view, 7> workloads_and_mean{"MLP0", "MLP1", "LSTM0", "LSTM1",
                                                                    "CNN0", "CNN1", "mean"};
inline constexpr std::array<std::string_view, 3> pair_names{"MLP", "LSTM", "CNN"};
/// Performance of the first over the second.
enum Ratio : std::size_t { GpuOverCpu, TpuOverCpu, TpuOverGpu, PrimeOverCpu, PrimeOverGpu };
inline constexpr std::array<std::string_view, 3> ratio_names{"GPU/CPU", "TPU/CPU", "TPU/GPU"};
inline constexpr std::array<std::string_view, 5> server_ratio_names{"GPU/CPU", "TPU/CPU", "TPU/GPU",
                                                                    "TPU'/CPU", "TPU'/GPU"};
inline constexpr std::array<std::string_view, 11> load_names{"0",  "10", "20", "30", "40", "50",
                                                             "60", "70", "80", "90", "100"};
inline constexpr std::array<double, 11> loads{0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
inline constexpr std::array<std::string_view, 5> scale_names{"0.25", "0.5", "1", "2", "4"};
inline constexpr std::array<double, 5> scales{0.25, 0.5, 1.0, 2.0, 4.0};
/// What Figure 10 draws, a curve each: a die alone, or with its part of the CPU server that hosts it.
enum PowerCurve : std::size_t { TpuWatts, TpuWithHostWatts, GpuWatts, GpuWithHostWatts, CpuWatts };
inline constexpr std::array<std::string_view, 5> power_curve_keys{
    "tpu_watts", "tpu_with_host_watts", "gpu_watts", "gpu_with_host_watts", "cpu_watts"};
/// What Figure 11 scales, a curve each.
enum Curve : std::size_t { Memory, Clock, ClockPlus, Matrix, MatrixPlus };
inline constexpr std::array<std::string_view, 5> curve_names{"memory", "clock", "clock+", "matrix",
                                                             "matrix+"};

/// The processors whose proportionality the text gives.
inline constexpr std::array<std::string_view, 3> processor_names{"TPU", "CPU", "GPU"};

using PerWorkload = Named<workload_names>;
using CountPerWorkload = Named<workload_names, std::uint32_t>;
using PerWorkloadAndMean = Named<workloads_and_mean>;
using PerPair = Named<pair_names>;
using PerRatio = Named<ratio_names>;
using PerServerRatio = Named<server_ratio_names>;
using PerLoad = Named<load_names>;
using PerScale = Named<scale_names>;
using PerProcessor = Named<processor_names>;

/// How well a number is known.
enum class Confidence : std::uint8_t {
    Seen,       ///< printed in the article
    Digitized,  ///< read off a figure
    Derived,    ///< computed from printed numbers
};
inline constexpr std::array<std::string_view, 3> confidence_names{"seen", "digitized", "derived"};

/// Where a group of numbers comes from.
struct Citation {
    std::string source;
    Confidence confidence = Confidence::Seen;
};

/// Workloads.
struct Table1 : Citation {
    CountPerWorkload fully_connected, convolution, vector, pool;  ///< layers
    CountPerWorkload batch;
    PerWorkload weights_millions;
    PerWorkload macs_per_weight_byte;
    PerPair deployed_percent;  ///< of the chips in the datacenter
};

/// Chips and servers; watts, and dies of a server. Those of CPU and GPU are in configs/baselines, too, which
/// runs read without this file; a test holds the two together.
struct Table2 : Citation {
    double peak_tops = 0.0;
    double weight_memory_gb_per_s = 0.0;
    double tpu_idle_watts = 0.0, tpu_busy_watts = 0.0;
    double cpu_dies = 0.0, gpu_dies = 0.0, tpu_dies = 0.0;
    double cpu_server_tdp_watts = 0.0, gpu_server_tdp_watts = 0.0, tpu_server_tdp_watts = 0.0;
};

struct Figure1 : Citation {
    double weight_memory_gib_per_s = 0.0;
};

/// Counters in per cent of cycles, and 10^12 operations a second.
struct Table3 : Citation {
    /// Rows 1 to 9, in the order of `table_3_keys`.
    std::array<PerWorkloadAndMean, 9> rows;
};
inline constexpr std::array<std::string_view, 9> table_3_keys{"array_active", "useful_macs",  "unused_macs",
                                                              "weight_stall", "weight_shift", "non_matrix",
                                                              "raw_stall",    "input_stall",  "tera_ops"};

struct LatencyRow {
    std::uint32_t batch = 0;
    double p99_ms = 0.0;
    double inferences_per_second = 0.0;
};

/// The largest batch within the limit of latency, and the one with the most inferences a second.
struct LatencyRows {
    LatencyRow within_limit, at_maximum;
};

/// MLP0.
struct Table4 : Citation {
    double limit_ms = 0.0;
    LatencyRows cpu, gpu, tpu;
};

struct Table5 : Citation {
    PerWorkload host_percent_of_tpu_time;
};

/// Performance per die, the host's time included.
struct Table6 : Citation {
    std::array<PerWorkload, 3> ratios;  ///< in the order of Ratio
    PerRatio geometric_mean, weighted_mean;
};

struct Table7 : Citation {
    PerWorkload model_error_percent;
};

struct Table8 : Citation {
    PerWorkload unified_buffer_mib;
};

struct Figure5 : Citation {
    double ridge_macs_per_byte = 0.0;
};

/// Rooflines of CPU and GPU. Labels have one digit: 0.2 stands for all from 0.15 to 0.25.
struct RooflineLabels : Citation {
    PerWorkload tera_ops;
};
/// Where the points are.
struct RooflinePlaces : Citation {
    PerWorkload macs_per_weight_byte;
};

/// Performance per watt of servers.
struct Figure9 : Citation {
    PerServerRatio total_gm, total_wm, incremental_gm, incremental_wm;
};

/// Watts a die of CNN0 by load in per cent.
struct Figure10 : Citation {
    std::array<PerLoad, power_curve_keys.size()> curves;  ///< in the order of PowerCurve
};

struct Figure10Text : Citation {
    double tpu_watts_at_full_load = 0.0;
    /// Watts at a tenth of the load, in per cent of those at full load.
    PerProcessor cnn0_percent_at_tenth_load, lstm1_percent_at_tenth_load;
    /// The host's watts while its accelerators are at full load, in per cent of its busy ones.
    double host_percent_with_tpus = 0.0, host_percent_with_gpus = 0.0;
    /// A CPU server that hosts TPUs over one without, at full load: less than so many per cent more watts,
    /// and so many times the performance of CNN0.
    double tpu_server_extra_percent = 0.0, tpu_server_cnn0_times = 0.0;
};

/// Weighted mean of performance over that at scale 1.
struct Figure11 : Citation {
    std::array<PerScale, 5> curves;  ///< in the order of Curve
};

struct Figure11Text : Citation {
    double memory_4x_mean = 0.0, memory_4x_mlp_lstm = 0.0, clock_4x_cnn = 0.0;
};

struct TpuPrime : Citation {
    double clock_mhz = 0.0;
    double ridge_macs_per_byte = 0.0;
    double memory_gm = 0.0, memory_wm = 0.0;
    double both_gm = 0.0, both_wm = 0.0;
    double with_host_gm = 0.0, with_host_wm = 0.0;
    double server_tdp_watts = 0.0;
};

struct Tiling : Citation {
    std::uint32_t matrix = 0;  ///< rows and columns of the weights
    double array_256_tiles = 0.0, array_256_us = 0.0;
    double array_512_tiles = 0.0, array_512_us = 0.0;
};

struct Section8 : Citation {
    double mlp1_inferences_per_second = 0.0, cnn1_inferences_per_second = 0.0;
};

/// Of the abstract: times over CPUs and GPUs.
struct Claim : Citation {
    double performance_from = 0.0, performance_to = 0.0;
    double per_watt_from = 0.0, per_watt_to = 0.0;
};

struct Published {
    std::string schema;
    std::string name;
    std::string title;
    Table1 table_1;
    Table2 table_2;
    Figure1 figure_1;
    Table3 table_3;
    Table4 table_4;
    Table5 table_5;
    Table6 table_6;
    Table7 table_7;
    Table8 table_8;
    Figure5 figure_5;
    RooflineLabels figure_6, figure_7;
    RooflinePlaces figure_6_places, figure_7_places;
    Figure9 figure_9;
    Figure10 figure_10;
    Figure10Text figure_10_text;
    Figure11 figure_11;
    Figure11Text figure_11_text;
    TpuPrime tpu_prime;
    Tiling tiling;
    Section8 section_8;
    Claim claim;
};

/// From JSON; `file` leads the messages. Every number is needed. Throws ConfigError.
Published read_published(const nlohmann::json& object, const std::string& file);
Published read_published(const std::filesystem::path& path);

}  // namespace systole::validate
