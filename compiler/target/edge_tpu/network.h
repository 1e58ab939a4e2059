#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/window.h"
#include "compiler/operators/host_segments.h"
#include "compiler/target/edge_tpu/placement.h"
#include "hw/isa/instructions/permute.h"
#include "hw/isa/instructions/tile_multiply.h"
#include "hw/isa/instructions/tile_vector.h"
#include "hw/isa/moved_pixels.h"
#include "hw/isa/tile_grid.h"
#include "hw/isa/tile_layout.h"
#include "hw/machine/machine_config.h"

/// A network as steps of the tiles.
namespace systole::edge_tpu {

using TensorId = std::uint32_t;

/// How a tensor lies in the narrow memories.
enum class Form : std::uint8_t {
    Image,      ///< spread over the tiles
    EveryTile,  ///< a vector, whole in each tile
    OverLanes,  ///< a vector, as a dense product leaves it
};

struct Tensor {
    std::string name;
    Form form = Form::Image;
    ir::FeatureMap shape;
    std::int32_t zero_point = 0;
    // Margins that the windows of its readers reach into; negative where tiles keep a strip of their patches.
    std::int32_t top = 0;
    std::int32_t bottom = 0;
    std::int32_t left = 0;
    std::int32_t right = 0;
    bool reaches_out = false;  ///< windows reach beyond what tiles own
    // The steps between which it must be there: from the one that writes it first to the one that reads it
    // last. The network's inputs are written before step 0, outputs read behind the last.
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t address = 0;  ///< set by memory.h
};

/// Lines of the patch of each tile.
struct PatchLines {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

/// Channels of a tensor.
struct Part {
    TensorId tensor = 0;
    std::uint32_t first_channel = 0;
    ir::FeatureMap shape;
    std::optional<PatchLines> lines = {};  ///< of a result, and of operands by element; without, all
};

enum class StepKind : std::uint8_t {
    Multiply,
    Vector,
    Collect,
    Move,
    Permute,
    Read,  ///< a constant operand comes from host memory; its source is its result
};

/// What a step computes of a node that takes several.
enum class Piece : std::uint8_t {
    Whole,       ///< the node itself, with its numbers
    Constant,    ///< a constant operand, as an image of the result's extents
    Reversed,    ///< the same numbers in reversed order: the least becomes the largest
    AtMostZero,  ///< of prelu: x where it is negative, else 0
    Below,       ///< of prelu: the slope times that
    Above,       ///< of prelu: x where it is positive, else 0, as the result is stored
    Together,    ///< of prelu: the sum of the two, of which one is 0
};

/// An instruction of the tiles, of the ring, of the mesh or of the link, with what it needs.
struct Step {
    StepKind kind = StepKind::Multiply;
    ir::NodeId node = 0;
    std::uint32_t layer = 0;  ///< of Network::layers
    isa::TileProduct product = isa::TileProduct::Convolve;
    isa::TileOperation operation = isa::TileOperation::Add;
    Piece piece = Piece::Whole;
    std::size_t operand = 0;                ///< of Piece::Constant: which input of the node it is
    std::optional<ir::Window> window = {};  ///< of products and pooling of images
    Part source;
    std::optional<Part> other = {};
    Part result;
    std::uint32_t first_output =
        0;                      ///< of products: the node's output channel that is the result's first one
    bool with_margins = false;  ///< every tile computes all pixels that it stores of the result
    // Of moves.
    isa::MovedPixels moved = {};
    bool keeps = false;        ///< pixels that come from none stay as they are
    std::int32_t outside = 0;  ///< what they become otherwise, as a stored number
    isa::AxisOrder order = isa::AxisOrder::LinesColumnsChannels;  ///< of permutations

    /// Whether each result comes from the same element of the operands.
    bool is_element_wise() const;
    /// Whether operands are read around the result's pixels.
    bool reads_around() const;
};

struct Layer {
    std::string name;
    std::string kind;
    std::uint64_t macs = 0;
};

/// A value in host memory that the chip reads or writes.
struct Border {
    ir::ValueId value = 0;
    Part part;
};

struct Network {
    const ir::Graph* graph = nullptr;
    isa::TileGrid grid;
    std::vector<Placement> placements;  ///< by node
    operators::HostPlan host;
    std::vector<operators::SegmentGraph> segments;  ///< by segment of `host`
    std::vector<Tensor> tensors;
    std::vector<Layer> layers;
    std::vector<Step> steps;
    std::vector<Border> reads;   ///< inputs of the network that the chip reads
    std::vector<Border> writes;  ///< outputs of the network, and what the host's segments read
};

isa::TileWindow tile_window(const ir::Window& window);

/// How the tiles keep a part of an image.
isa::TileLayout layout_of(const Network& network, const Part& part);

/// Throws ModelError if the chip has no part of the network. The graph must outlive the result. `refused`:
/// why nodes are not on the chip that tiles compute.
Network make_network(const ir::Graph& graph, const machine::MachineConfig& machine,
                     const Refusals& refused = {});

}  // namespace systole::edge_tpu
