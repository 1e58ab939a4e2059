#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "hw/machine/machine_config.h"

/// The study of the size at which the article's CNN begins to fill the array.
namespace systole::studies {

/// The digit CNN of models/mnist_cnn at other sizes, without weights, for timing-only runs.
struct ArticleCnn {
    /// The article's SIZE_MULTIPLIER: the side of the input image is 28 pixels times this. Layers keep their
    /// widths.
    std::uint32_t size_multiplier = 1;
    /// Not in the article: factor on the filters of the convolutions and on the units of the hidden dense
    /// layer (12, 24, 64 and 200 in the article).
    std::uint32_t width_multiplier = 1;

    bool operator==(const ArticleCnn&) const = default;
};

/// The network as a graph file.
nlohmann::json article_cnn_file(const ArticleCnn& which);
ir::Graph article_cnn(const ArticleCnn& which);

struct FillPoint {
    ArticleCnn network;
    std::uint32_t batch = 1;

    bool operator==(const FillPoint&) const = default;
};

/// The cycles of two batches, as shares of the run's cycles; `useful` is a share of cells × cycles.
struct FillRow {
    FillPoint point;
    std::uint64_t macs = 0;  ///< of one inference
    std::uint64_t cycles = 0;
    double useful = 0.0;  ///< useful multiply-accumulates, of the peak
    double active = 0.0;
    double weight_stall = 0.0;
    double weight_shift = 0.0;
    double non_matrix = 0.0;
    double inferences_per_second = 0.0;
    std::string error;  ///< the reason why it does not run on this machine; the figures are then 0

    bool operator==(const FillRow&) const = default;
};

/// The article's axis, SIZE_MULTIPLIER 1 to 8 at several batches, which does not fill the array, and a second
/// axis: layers of 1 to 16 times the width.
std::vector<FillPoint> fill_points();

/// Compiles and simulates each point without values, in a process of its own, on `workers` cores (0: all).
/// The row of a point that does not fit the machine has an error.
std::vector<FillRow> study_fill(const machine::MachineConfig& machine, std::span<const FillPoint> points,
                                std::size_t workers = 0);

/// The first row whose useful share is above `share`; rows are in the order of their points.
std::optional<FillRow> first_above(std::span<const FillRow> rows, double share);

}  // namespace systole::studies
