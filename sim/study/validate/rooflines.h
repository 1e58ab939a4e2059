#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/study/validate/null_models/roofline.h"
#include "sim/study/validate/published.h"
#include "sim/study/validate/simulate.h"

/// The figures of rooflines by hand (null_models/), which stand beside ours: from published numbers of the
/// chip and the shapes of the layers. No run, no machine file and no compiler has a part in them.
namespace systole::validate {

/// The workloads as plain numbers: models/isca17/shapes.json, schema sim.shapes/1, which the script writes
/// that also writes the workloads' graph files.
using Shapes = ByWorkload<null_models::Network>;
/// From JSON; `file` leads the messages. Throws ConfigError.
Shapes read_shapes(const nlohmann::json& object, const std::string& file);
Shapes read_shapes(const std::filesystem::path& path);

/// The chip, by its published numbers; its weight memory with Table 2's bandwidth.
null_models::Chip published_chip(const Published& published);
/// Another one, as Figure 11 scales it. Accumulators are none of a roofline's numbers.
null_models::Chip scaled(null_models::Chip chip, Curve curve, double scale);

struct NullModel {
    std::string name;
    std::string constant;         ///< its fitted constant, with unit; empty: none
    ByWorkload<double> errors{};  ///< of total cycles, signed
    double mean = 0.0;            ///< absolute
};

struct Rooflines {
    null_models::Chip chip;
    ByWorkload<null_models::Prediction> workloads{};
    double factor = 1.0;  ///< that brings the workloads' total cycles nearest to the published ones

    // Models of total cycles.
    NullModel bound{};                       ///< the roofline alone
    NullModel with_transfers{};              ///< with the time of inputs and outputs on the link in addition
    NullModel with_transfers_at_figure_1{};  ///< the same with Figure 1's bandwidth of the weight memory
    NullModel scaled_bound{};                ///< the roofline times `factor`
    NullModel by_layer{};                    ///< the roofline, and as many cycles more for each layer

    /// Of each split: the factor of three workloads, held against the other three; mean absolute errors.
    std::vector<double> others_errors{};
    double others_mean = 0.0;

    Sensitivity sensitivity{};                        ///< Figure 11
    Sensitivity eight_bit_sensitivity{};              ///< LSTMs with 8-bit activations
    ByWorkload<double> prime_memory{}, prime_both{};  ///< speed-up of the improved chip
    std::array<null_models::Prediction, 2>
        tiling{};  ///< one matrix, on the array and on one of twice the size

    std::vector<const NullModel*> models() const {
        return {&bound, &with_transfers, &with_transfers_at_figure_1, &scaled_bound, &by_layer};
    }
    /// A row of Table 3 by index into table_3_rows, of the roofline times `factor`: what the factor adds is
    /// non-matrix. Empty for rows 7 and 8, of which a roofline knows nothing.
    std::vector<double> table_3(std::size_t row) const;
};

/// `splits` are the sets of workloads that a factor is fitted to.
Rooflines rooflines(const Published& published, const Shapes& shapes, const std::vector<Workloads>& splits);

/// Cycles of a batch on the real chip, by row 2 of Table 3: those in which every cell is useful, over their
/// share of all.
double published_cycles(const null_models::Prediction& prediction, double useful_percent);

}  // namespace systole::validate
