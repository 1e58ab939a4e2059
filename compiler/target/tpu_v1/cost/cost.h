#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/cycle.h"
#include "base/data_type.h"
#include "compiler/ir/feature_map.h"
#include "compiler/ir/window.h"
#include "compiler/target/tpu_v1/network/accumulator_parts.h"
#include "compiler/target/tpu_v1/network/pixel_block.h"
#include "compiler/target/tpu_v1/network/tiling.h"
#include "hw/isa/instructions/activate.h"
#include "hw/machine/machine_config.h"
#include "hw/timing/matrix_unit.h"

namespace systole::tpu_v1 {

/// The columns of a column tile that one activation processes: channels of one layer, for each pixel of a
/// block.
struct ActivatedColumns {
    std::uint32_t columns = 0;
    PixelBlock block;               ///< of a row of sums
    ir::FeatureMap pixels;          ///< the output of one image
    std::uint32_t pixel_bytes = 0;  ///< from one pixel of the output to the next
    DataType output = DataType::Uint8;
    isa::ActivationFunction function = isa::ActivationFunction::Identity;
    isa::Multipliers multipliers = isa::Multipliers::FixedPoint;
};

/// A product of matrix unit and activation unit under one mapping.
struct MappedProduct {
    std::optional<ir::Window> window;  ///< that is streamed, of blocks of pixels; absent: a row is an image
    ir::FeatureMap input;              ///< of one image
    ir::FeatureMap grid;               ///< rows of sums of one image
    Tiling tiling;
    std::vector<std::vector<ActivatedColumns>> activated;  ///< of each column tile
    ProductChunks cut;  ///< of all images that go through the layer together
    DataType activations = DataType::Uint8;
    DataType weights = DataType::Int8;
    bool spilled = false;  ///< its weights come over the host link
};

/// A weight tile of a column, with the stream of one line against it.
struct TileCost {
    timing::StreamShape line;
    double fetch = 0;    ///< cycles of weight memory, or of the host link without other transfers
    double latency = 0;  ///< of the host link
};

/// The tiles of a column tile, in the order in which a chunk is streamed against them.
std::vector<TileCost> tile_costs(const MappedProduct& product, const ColumnTile& column,
                                 const machine::MachineConfig& machine);

/// Cycles of the activation unit for rows of sums; `loads`: parameters are loaded before.
Cycle activation_cycles(const ActivatedColumns& columns, std::uint32_t rows, bool loads,
                        const machine::MachineConfig& machine);

/// The cycles that the product takes from its first row of array input until its last sums are activated, in
/// a network whose other layers neither delay it nor are delayed. Its first tiles are in the weight FIFO, as
/// if there had been time to fetch them before.
///
/// A recurrence over the streams of all chunks (UnitTimes), which also leaves out the host link. The streams
/// of many chunks are not computed one by one: from where they repeat themselves, cycles are multiplied.
Cycle predicted_cycles(const MappedProduct& product, const machine::MachineConfig& machine);

/// The same for products that follow each other and do not read each other's results.
Cycle predicted_cycles(std::span<const MappedProduct> products, const machine::MachineConfig& machine);
Cycle predicted_cycles(std::span<const MappedProduct* const> products, const machine::MachineConfig& machine);

}  // namespace systole::tpu_v1
