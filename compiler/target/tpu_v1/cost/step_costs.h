#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/target/tpu_v1/cost/cost.h"
#include "compiler/target/tpu_v1/cost/layer_costs.h"
#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/schedule/operation.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "hw/machine/machine_config.h"

namespace systole::tpu_v1 {

/// Lines of a tensor of a slice, numbered through its images, from the first image of the slice on.
struct LineRange {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

/// A stream of a step against a weight tile.
struct StreamOfStep {
    timing::StreamShape shape;
    double fetch = 0;      ///< cycles of weight memory for the tile
    bool is_kept = false;  ///< the tile is in the array, if no other stream has come between
};

/// The operations of a layer on a chunk, or a part of them, and what they cost. A product whose weights
/// arrive more slowly than a chunk is streamed against them is cut into a step for each instruction: other
/// steps may come between them.
struct Step {
    std::size_t first_operation = 0;  ///< of the layer's
    std::size_t operations = 0;
    bool is_product = false;              ///< it begins with streams
    bool is_vector_work = false;          ///< of the activation unit alone; otherwise transfers and host work
    std::optional<std::uint32_t> column;  ///< of a product whose column has a single tile
    std::uint32_t accumulator_rows = 0;
    bool begins_sums = true;       ///< it takes rows of accumulators
    bool ends_sums = true;         ///< it activates them
    double array_cycles = 0;       ///< of all streams
    double fetch_cycles = 0;       ///< of weight memory for all tiles that are not kept
    double first_fetch = 0;        ///< of weight memory for the first tile
    double activation_cycles = 0;  ///< without loading parameters
    LineRange written;             ///< of the layer's output

    /// The cycles of the unit that is busy longest.
    double longest() const { return std::max({array_cycles, fetch_cycles, activation_cycles}); }
};

/// The costs of a network's steps on a machine, from those of its layers (layer_costs.h).
class StepCosts {
public:
    StepCosts(const AnalysedNetwork& analysed, const Schedule& schedule);

    /// The operations of a layer with instructions as short as steps may be.
    std::vector<Operation> split(std::vector<Operation> operations) const;
    /// Cuts the operations of a layer into steps. `first_image`: the slice's place in the unified buffer.
    std::vector<Step> steps_of(std::uint32_t layer, std::span<const Operation> operations,
                               std::uint32_t first_image) const;
    /// The streams of a step, from its operations.
    std::vector<StreamOfStep> streams_of(std::span<const Operation> operations) const;
    /// The lines of an input of the layer that a step needs up to: those before are needed too. 0 for steps
    /// of which nothing is known, such as transfers.
    std::uint64_t lines_read(std::uint32_t layer, std::size_t input, const Step& step) const;

private:
    /// By tile of a layer, and by segment of each of its column tiles.
    struct Product {
        std::vector<TileCost> tiles;
        std::vector<std::vector<ActivatedColumns>> activated;
    };

    bool writes_weights(std::uint32_t layer) const;
    std::vector<Step> whole_images(std::uint32_t layer, std::span<const Operation> operations,
                                   std::uint32_t first_image) const;
    void add(const ActivatePixels& work, std::uint32_t first_image, Step& step) const;
    void add_vector_work(std::uint32_t layer, const Operation& operation, std::uint32_t first_image,
                         Step& step) const;
    void append_streams(const MatrixWork& work, std::vector<StreamOfStep>& streams) const;
    /// Whether a chunk is streamed faster against its tiles than they can be fetched.
    bool waits_for_weights(const MatrixWork& work) const;
    /// The lines of a layer's output that lines of blocks write; `grid` has the blocks of an image.
    LineRange lines_of(std::uint32_t layer, const ir::FeatureMap& grid, const PixelBlock& block,
                       std::uint32_t image, std::uint64_t first_line, std::uint64_t lines) const;

    const Network& network_;
    const Schedule& schedule_;
    const LayerCosts costs_;
    std::vector<std::optional<Product>> products_;  ///< by layer
};

}  // namespace systole::tpu_v1
