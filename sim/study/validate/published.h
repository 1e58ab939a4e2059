#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hw/machine/config_reader.h"

/// Figures that were published about the real chip, and about a CPU and a GPU: configs/published/*.json,
/// schema sim.published/1.
namespace systole::validate {

/// The six production workloads of the article.
inline constexpr std::size_t workload_count = 6;
inline constexpr std::array<std::string_view, workload_count> workload_names{"MLP0",  "MLP1", "LSTM0",
                                                                             "LSTM1", "CNN0", "CNN1"};
enum Workload : std::size_t { MLP0, MLP1, LSTM0, LSTM1, CNN0, CNN1 };

/// Some of the workloads.
using Workloads = std::vector<std::size_t>;
inline const Workloads all_workloads{MLP0, MLP1, LSTM0, LSTM1, CNN0, CNN1};

template <class T>
using ByWorkload = std::array<T, workload_count>;

/// `value(workload)` of each workload.
template <class Value>
auto by_workload(const Value& value) {
    ByWorkload<std::decay_t<decltype(value(std::size_t{}))>> values{};
    for (std::size_t i = 0; i < workload_count; ++i) values[i] = value(i);
    return values;
}

/// A row of Table 3: its key in the file, its title, and our counter. Rows 1 to 8 are shares of the cycles.
struct Table3Row {
    std::string_view key;
    std::string_view title;
    std::string_view counter;  ///< empty for row 9, operations per second
};
inline constexpr std::array<Table3Row, 9> table_3_rows{
    {{"array_active", "1 array active", "matrix_unit.active_cycles"},
     {"useful_macs", "2 - useful MACs", "matrix_unit.useful_macs"},
     {"unused_macs", "3 - unused MACs", "matrix_unit.unused_macs"},
     {"weight_stall", "4 weight stall", "matrix_unit.weight_stall_cycles"},
     {"weight_shift", "5 weight shift", "matrix_unit.weight_shift_cycles"},
     {"non_matrix", "6 non-matrix", "matrix_unit.non_matrix_cycles"},
     {"raw_stall", "7 RAW stalls", "matrix_unit.raw_stall_cycles"},
     {"input_stall", "8 input stalls", "matrix_unit.input_stall_cycles"},
     {"tera_ops", "9 TeraOps/s", ""}}};
/// Row 2 by index into table_3_rows: useful multiply-accumulates, by which cycles are compared.
inline constexpr std::size_t useful_row = 1;
/// Row 9: operations a second.
inline constexpr std::size_t tera_row = 8;
/// Rows 1, 4, 5, 6 (indices into table_3_rows): they sum to all cycles.
inline constexpr std::array<std::size_t, 4> partition_rows{0, 3, 4, 5};

/// Performance of the first processor over the second.
enum Ratio : std::size_t { GpuOverCpu, TpuOverCpu, TpuOverGpu, PrimeOverCpu, PrimeOverGpu };
inline constexpr std::array<std::string_view, 3> ratio_names{"GPU/CPU", "TPU/CPU", "TPU/GPU"};
inline constexpr std::array<std::string_view, 3> ratio_keys{"gpu_over_cpu", "tpu_over_cpu", "tpu_over_gpu"};
inline constexpr std::array<std::string_view, 5> server_ratio_names{"GPU/CPU", "TPU/CPU", "TPU/GPU",
                                                                    "TPU'/CPU", "TPU'/GPU"};
inline constexpr std::array<std::string_view, 4> efficiency_keys{"total_gm", "total_wm", "incremental_gm",
                                                                 "incremental_wm"};

/// Figure 10: watts of a die, or of a die with its part of the CPU server that hosts it.
enum PowerCurve : std::size_t { TpuWatts, TpuWithHostWatts, GpuWatts, GpuWithHostWatts, CpuWatts };
inline constexpr std::array<std::string_view, 5> power_curve_keys{
    "tpu_watts", "tpu_with_host_watts", "gpu_watts", "gpu_with_host_watts", "cpu_watts"};
inline constexpr std::array<std::string_view, 11> load_names{"0",  "10", "20", "30", "40", "50",
                                                             "60", "70", "80", "90", "100"};
inline constexpr std::array<double, 11> loads{0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};

/// Figure 11: the parameters that are scaled, and by how much.
enum Curve : std::size_t { Memory, Clock, ClockPlus, Matrix, MatrixPlus };
inline constexpr std::array<std::string_view, 5> curve_names{"memory", "clock", "clock+", "matrix",
                                                             "matrix+"};
inline constexpr std::array<std::string_view, 5> scale_names{"0.25", "0.5", "1", "2", "4"};
inline constexpr std::array<double, 5> scales{0.25, 0.5, 1.0, 2.0, 4.0};

/// All numbers, by their path in the file. published.cpp declares the paths and their ranges; reading a path
/// that is not declared throws std::logic_error.
struct Published {
    std::string name;
    std::string title;
    std::map<std::string, double, std::less<>> numbers;

    /// A number: "table_2.peak_tops".
    double at(std::string_view path) const;
    std::uint32_t count(std::string_view path) const { return static_cast<std::uint32_t>(at(path)); }
    /// The numbers of an object, in the order of its keys: row("table_6.weighted_mean", ratio_names).
    template <std::size_t N>
    std::array<double, N> row(std::string_view object, const std::array<std::string_view, N>& keys) const {
        std::array<double, N> values{};
        for (std::size_t i = 0; i < N; ++i) values[i] = at(std::string(object) + "." + std::string(keys[i]));
        return values;
    }
    ByWorkload<double> workloads(std::string_view object) const { return row(object, workload_names); }

    // The rows that several tables use.
    /// By index into table_3_rows.
    ByWorkload<double> table_3(std::size_t row) const {
        return workloads("table_3." + std::string(table_3_rows.at(row).key));
    }
    /// Performance per die, with the host's time.
    ByWorkload<double> table_6(Ratio ratio) const {
        return workloads("table_6." + std::string(ratio_keys.at(ratio)));
    }
    auto figure_9(std::size_t bar) const {  ///< by index into efficiency_keys
        return row("figure_9." + std::string(efficiency_keys.at(bar)), server_ratio_names);
    }
    auto figure_10(PowerCurve curve) const {
        return row("figure_10." + std::string(power_curve_keys.at(curve)), load_names);
    }
    /// Weighted mean, over that at scale 1.
    auto figure_11(Curve curve) const {
        return row("figure_11." + std::string(curve_names.at(curve)), scale_names);
    }
};

/// From JSON; `file` leads the messages. Every number is needed, and each section says the source of its
/// numbers. Throws ConfigError.
Published read_published(const nlohmann::json& object, const std::string& file);
Published read_published(const std::filesystem::path& path);

}  // namespace systole::validate
