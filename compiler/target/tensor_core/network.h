#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/word_operation.h"
#include "compiler/ir/feature_map.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/window.h"
#include "compiler/target/tensor_core/moves.h"
#include "compiler/target/tensor_core/products.h"
#include "compiler/target/tensor_core/row_boxes.h"
#include "hw/isa/chain.h"
#include "hw/machine/machine_config.h"
#include "hw/math/floats/float_product.h"

/// A network as steps of a tensor core.
namespace systole::tensor_core {

using TensorId = std::uint32_t;

/// Where a tensor is while it lives.
enum class Home : std::uint8_t { Hbm, VectorMemory };

/// A value as a matrix: its last axis has the columns, the other ones the rows. An image of few channels may
/// have a row for each of its lines, with the pixels side by side: so it fills the lanes.
struct Tensor {
    std::string name;
    std::uint64_t rows = 1;  ///< of an image, or in all if images share it
    std::uint64_t columns = 1;
    bool is_shared = false;  ///< by all images
    /// All lanes have the number of the one column: a chain can take it for all columns of others.
    bool fills_lanes = false;
    std::optional<ir::ValueId> constant = {};  ///< its elements are those of this value
    std::vector<std::uint32_t> words = {};  ///< of a constant that no value has; none where they are unknown
    bool is_constant = false;               ///< it has `words`
    bool is_weights = false;                ///< a constant in tiles of the array, for products
    // The steps from the one that writes it first to the one that reads it last. Inputs and constants are
    // there before step 0, outputs are read behind the last step.
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    bool is_bfloat16 = false;  ///< all of its elements are
    bool is_packed = false;    ///< in both memories, two rows in one; set by pack_rows.h
    bool is_moved = false;     ///< by DMA alone, as moves, `infeed` and `outfeed` do it
    bool may_stay = true;      ///< in vector memory, where there is room; set by tests only
    // Set by memory.h.
    Home home = Home::Hbm;
    std::uint64_t row = 0;         ///< of its memory
    std::uint64_t panel_rows = 0;  ///< from a panel to the next
    /// From an image to the next: as many as it has, or, of inputs that only windows of lines read, all
    /// panels of an image.
    std::uint64_t image_rows = 0;
    std::uint64_t images = 0;    ///< of which it has rows; all images of the network, or those of a segment
    bool is_in_segment = false;  ///< no other segment reads or writes it
    /// Of inputs and state: where the next images have their rows; images take turns.
    std::optional<std::uint64_t> next_row = {};

    /// The rows of memory that so many of its rows take. Those of a packed tensor are counted from an even
    /// one.
    std::uint64_t memory_rows(std::uint64_t of_rows) const { return is_packed ? (of_rows + 1) / 2 : of_rows; }
};

/// What a chain reads.
enum class OperandKind : std::uint8_t {
    Before,    ///< what the step has computed so far
    Rows,      ///< an element for each
    Row,       ///< a row for all rows
    ImageRow,  ///< a row for each image
    Column,    ///< a number for each row
    Number,    ///< one number, or one for each image
};
struct Operand {
    OperandKind kind = OperandKind::Before;
    TensorId tensor = 0;

    bool operator==(const Operand&) const = default;
};

/// Element-wise work on rows: the operands are the first values, then come the steps.
struct ChainUse {
    std::vector<Operand> operands;
    std::vector<isa::ChainStep> steps;
    bool fills_lanes = false;  ///< it computes all lanes, of which one is a column
};

/// A further result of a step. It has the rows and columns of the step's result, and lies beside it in vector
/// memory tile by tile: what both read comes in once.
struct FurtherResult {
    TensorId tensor = 0;
    /// Of its operands, those of kind Rows may be results of the step: the first one, or a further one before
    /// this. None is `Before`.
    ChainUse chain;
};

enum class StepKind : std::uint8_t {
    Product,    ///< rows or windows of the source times weights
    Depthwise,  ///< windows of each channel times weights
    Windows,    ///< windows of each channel are reduced
    /// numbers are added where an image has the greatest or least element of each window
    SelectAndScatter,
    ReduceLanes,  ///< each row becomes one number
    ReduceRows,   ///< some rows become one
    Chain,        ///< only `chains`
    GatherRows,   ///< rows of the first source, which the words of the second name
    Move,         ///< elements go elsewhere
    MoveBoxes,    ///< rows and ranges of columns go elsewhere
    Transpose,    ///< columns become rows
    AllReduce,    ///< sums over all cores
};

/// Sums with more than one part of their operands.
struct ProductPass {
    std::uint8_t row_part = 0;
    std::uint8_t weight_part = 0;
};

/// Whether constant weights of a product lie in memory as bfloat16, two rows in one: one pass needs no more.
inline bool is_packed(const std::vector<ProductPass>& passes) {
    return passes.size() == 1;
}

/// What of a step goes through vector memory together is as much as there is room for, but not more than
/// this. Any limits of 1 or more give the same bits. Only tests set limits.
struct TileLimits {
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t images = none;  ///< of a tile
    /// Of a tile; fewer than an image has: tiles are parts of one. Of moves and sums over cores: rows.
    std::uint64_t lines = none;
    std::uint64_t columns = none;  ///< of the output, whose windows of lines are formed together
    std::uint64_t weights = none;  ///< tiles of the array that come in together, where not all of them stay
    bool keeps_weights = true;     ///< all of them stay for the whole step, where there is room
};

/// Work that makes one tensor from others, tile by tile.
struct Step {
    StepKind kind = StepKind::Chain;
    TileLimits limits = {};
    std::uint32_t layer = 0;  ///< of Network::layers
    TensorId source = 0;      ///< of all kinds but Chain and those with `sources`
    TensorId weights = 0;     ///< of Product and Depthwise
    TensorId scattered = 0;   ///< of SelectAndScatter: a number for each window
    TensorId result = 0;
    /// Of Product, without: a row is one of the source.
    std::optional<ir::Window> window = {};
    bool source_transposed = false;  ///< of Product: columns of the source are rows of the result
    /// Of Product: some of the depth comes in at a time, while the sums wait in vector memory. With
    /// `source_transposed`, some rows of source and weights; with a window, some lines of the kernel, and the
    /// source is in high-bandwidth memory.
    bool by_depth = false;
    bool reads_lines = false;  ///< of Product with a window: a row of the source is a line of the image
    /// With a window: images of the source in each image of the graph, and as many of the result.
    std::uint64_t inner_images = 1;
    ir::FeatureMap image = {};   ///< of the source, with a window
    ir::FeatureMap output = {};  ///< of the result, with a window; of SelectAndScatter, the windows
    std::vector<ProductPass> passes = {};
    ProductMatrices matrices = {};    ///< of Product
    std::uint64_t depth = 0;          ///< of each of them; 0: as many as the weights have rows
    bool weights_transposed = false;  ///< rows of the weights are columns of the result
    Reduction reduction = Reduction::Sum;
    std::uint64_t reduced_rows = 1;  ///< of ReduceRows: that become one
    /// Of ReduceRows and ReduceLanes: what is reduced, computed on the way from the source and other rows
    /// like it; the last chain's result, of which all but the first one read the one before it. Their
    /// operands are of kind Rows, the source among them, Row, ImageRow, Number or, of ReduceLanes, Column.
    std::vector<ChainUse> before = {};
    std::vector<ChainUse> chains = {};        ///< what becomes of the result, in order
    std::vector<FurtherResult> further = {};  ///< of Chain
    /// Chain and ReduceRows have sums of rows that the step reads or, as Chain, writes: so these rows come in
    /// once. Each is a step of kind ReduceRows with one row as its result. What becomes of a sum may read the
    /// results of earlier sums.
    std::vector<Step> sums = {};
    // Of GatherRows, Move, MoveBoxes, Transpose and AllReduce.
    std::vector<TensorId> sources = {};
    Movement movement = {};  ///< of MoveBoxes and Transpose
    std::vector<MovedRows> moves = {};
    std::vector<TensorId> results = {};  ///< of AllReduce, by source; `result` is the first of them
};

struct Layer {
    std::string name;
    std::string kind;
    std::uint64_t macs = 0;
};

/// Steps that some of the images go through one after the other, before the next images do.
struct Segment {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    std::uint64_t images = 1;  ///< those of the network are a multiple

    bool operator==(const Segment&) const = default;
};

/// An input and the output that replaces it for the next images; the same tensor if it stays as it is.
struct StateTensors {
    TensorId input = 0;
    TensorId output = 0;
};

/// A cache: an input that is in high-bandwidth memory already, and the output that stays there for the next
/// run.
struct CacheTensors {
    std::optional<TensorId> input = {};  ///< absent where there is nothing yet
    TensorId output = 0;
    /// The rows of the output that have the input's elements already, as no step moves them; the input's
    /// tensor has no place of its own. Absent: a step copies them.
    std::optional<RowBox> place = {};
};

struct Network {
    const ir::Graph* graph = nullptr;
    std::uint64_t images = 1;  ///< that go through it together
    /// A step has so many tiles, as far as they have least_tile_rows: one comes in while others are worked
    /// on.
    std::uint64_t least_tiles = 1;
    static constexpr std::uint64_t least_tile_rows = 256;
    /// Tiles of a step have all rows of vector memory in which no tensor stays meanwhile. Otherwise, all
    /// steps have the same rows: what stays is not where tiles of its neighbours were, so that steps overlap
    /// more.
    bool room_by_step = false;
    bool overlaps = true;  ///< transfers and work; else an instruction begins when the one before it is over
    /// All steps in order; none: all of them, with all images.
    std::vector<Segment> segments;
    std::vector<Tensor> tensors;
    std::vector<Layer> layers;
    std::vector<Step> steps;
    std::vector<TensorId> inputs;   ///< by input of the graph
    std::vector<TensorId> outputs;  ///< by output of the graph
    /// By state of the graph. No two have the same output, and none has the input of another one.
    std::vector<StateTensors> state;
    std::vector<CacheTensors> caches;  ///< by cache of the graph; no two have the same output

    std::vector<Segment> all_segments() const {
        if (!segments.empty()) return segments;
        return {{.first = 0, .end = static_cast<std::uint32_t>(steps.size()), .images = images}};
    }
};

/// The chains of a step: what becomes of its result, then those of further results.
std::vector<const ChainUse*> chains_of(const Step& step);
/// The rows that a reduction of rows makes fewer: its source, or those of which this is computed.
std::vector<TensorId> summed_by(const Step& step);
/// The tensors that a step reads, without its own results.
std::vector<TensorId> read_by(const Step& step);
/// The tensors that it writes.
std::vector<TensorId> written_by(const Step& step);

/// What saves time, and may need room.
struct NetworkForm {
    bool by_lines = true;     ///< images of few channels that convolutions alone read lie line by line
    bool joins_steps = true;  ///< chains and sums that read the same rows are one step
    bool packs_rows = true;   ///< of bfloat16, two in one
    bool transposes_on_the_way = true;  ///< sources of products, where their columns are needed as rows
    bool keeps_results = true;          ///< in vector memory, for the steps that read them
    /// Steps go in an order in which fewer bytes are there at a time, and not in the program's.
    bool frees_early = false;
    bool overlaps = true;  ///< Network::overlaps
};

/// The graph must outlive the result. Throws ModelError, in one line with the layer, for what the machine
/// does not compute.
Network make_network(const ir::Graph& graph, const machine::MachineConfig& machine, std::uint64_t images,
                     const NetworkForm& form = {});

}  // namespace systole::tensor_core
