#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/path_finder.h"
#include "sim/study/array_fill/array_fill.h"
#include "sim/study/validate/baseline_errors.h"
#include "sim/study/validate/fit.h"
#include "sim/study/validate/published.h"
#include "sim/study/validate/rooflines.h"
#include "sim/study/validate/setup.h"
#include "sim/study/validate/simulate.h"
#include "sim/study/validate/target.h"
#include "sim/view/table/table.h"

/// Compares the simulator with published measurements.
namespace systole::validate {

/// The workloads run in another way than `base`.
struct VariantRecords {
    std::string label;
    ByWorkload<run::RunRecord> records;
};

/// All that the tables read: published figures and simulated ones.
struct Results {
    Target target;
    Published published;
    machine::MachineConfig machine;
    baselines::Baseline cpu, gpu;
    ByWorkload<double> weights{};  ///< of the workloads in a weighted mean; they sum to 1

    ByWorkload<run::RunRecord> base;               ///< the machine as its file says
    ByWorkload<run::RunRecord> product;            ///< the same, mapped as the compiler maps other networks
    std::vector<VariantRecords> zero_fit;          ///< nothing is fitted
    std::vector<VariantRecords> product_zero_fit;  ///< the same, mapped as the compiler maps other networks
    std::vector<VariantRecords> mechanisms;        ///< in the order of the target's list
    Rooflines rooflines;
    ByWorkload<Watts> chip_watts{};  ///< of the die, in `base`
    run::RunRecord largest_batch;    ///< MLP0, at the batch of Table 4's last row
    Fits fits;

    Sensitivity sensitivity{};            ///< the workloads as they are
    Sensitivity eight_bit_sensitivity{};  ///< LSTMs with 8-bit activations

    /// The improved chip: faster memory, faster clock, both.
    ByWorkload<run::RunRecord> prime_memory, prime_clock, prime_both;

    /// Inferences per second of a die by the efficiency models of the baselines, at the largest batch up to
    /// the TPU's that keeps their limit of latency; and the errors of these models.
    ByWorkload<double> cpu_inferences_per_second{}, gpu_inferences_per_second{};
    BaselineErrors baseline_errors;

    std::vector<studies::FillRow> array_fill;  ///< the article's CNN at several sizes
    std::array<run::RunRecord, 2> tiling;      ///< one matrix, on the array and on one of twice the size

    /// The table of the target's file. Placeholders in its texts, such as {ridge:.0f}, stand for one of the
    /// `numbers`, for a published number by its path with "_" for each "." ({table_2_peak_tops:.0f}), or for
    /// the names {target} and {article}. Throws ConfigError for a placeholder that stands for nothing.
    Table table(const std::string& id, const std::map<std::string, double>& numbers = {}) const;
};

/// Reads the files of the target and simulates all that the tables need. `target` is a file, or a name in
/// configs/validation. Throws ConfigError, ModelError.
Results validate(const std::string& target, const run::PathFinder& paths);
/// The same with files that are read, all but the article's CNN (`array_fill`).
Results validate(const Setup& setup, const Simulate& simulate);

}  // namespace systole::validate
