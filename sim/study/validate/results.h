#pragma once

#include <array>
#include <filesystem>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/run/baselines/baseline.h"
#include "sim/study/array_fill/array_fill.h"
#include "sim/study/validate/baseline_errors.h"
#include "sim/study/validate/fit.h"
#include "sim/study/validate/means.h"
#include "sim/study/validate/measurement.h"
#include "sim/study/validate/published.h"
#include "sim/study/validate/sensitivity.h"
#include "sim/study/validate/target.h"

/// All that tables and plots read: what is published, and what was simulated.
namespace systole::validate {

struct Results {
    Target target;
    Published published;
    machine::MachineConfig machine;
    baselines::Baseline cpu, gpu;
    Weights weights{};

    ByWorkload<Measurement> base;  ///< the machine as its file says
    Measurement largest_batch;     ///< MLP0, at the batch of Table 4's last row
    Fits fits;

    Sensitivity sensitivity;            ///< the workloads as they are
    Sensitivity eight_bit_sensitivity;  ///< LSTMs with 8-bit activations

    /// The improved chip: faster memory, faster clock, both.
    ByWorkload<Measurement> prime_memory, prime_clock, prime_both;

    /// Inferences a second of a die by the baselines' efficiency models, at the largest batch up to the TPU's
    /// that keeps their limit of latency; and these models' errors.
    ByWorkload<double> cpu_inferences_per_second{}, gpu_inferences_per_second{};
    BaselineErrors baseline_errors;

    std::vector<studies::FillRow> array_fill;  ///< the article's CNN at several sizes

    std::array<std::uint32_t, 2> tiling_arrays{};  ///< rows and columns of the arrays
    std::array<Measurement, 2> tiling;             ///< one matrix, on each of them
};

}  // namespace systole::validate
