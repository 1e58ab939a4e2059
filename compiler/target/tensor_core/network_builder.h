#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/ir/graph.h"
#include "compiler/target/tensor_core/moves.h"
#include "compiler/target/tensor_core/network.h"
#include "compiler/target/tensor_core/row_boxes.h"
#include "hw/machine/machine_config.h"

namespace systole::tensor_core {

struct MatrixShape {
    std::uint64_t rows = 1;
    std::uint64_t columns = 1;

    bool operator==(const MatrixShape&) const = default;
};

/// The last axis has the columns.
MatrixShape matrix_of(const ir::Shape& shape);

/// Rounds what a step has computed.
ChainUse round_to_bfloat16(bool fills_lanes = false);

/// Each element that moves by itself takes memory while a network is compiled, and an instruction.
inline constexpr std::uint64_t most_moved_one_by_one = std::uint64_t{1} << 22U;

/// Makes a network: its tensors and steps, node by node. Functions for a kind of nodes are in the file that
/// their group names.
class NetworkBuilder {
public:
    NetworkBuilder(const ir::Graph& graph, const machine::MachineConfig& machine, std::uint64_t images,
                   const NetworkForm& form);

    Network build();

    // Tensors.

    /// The tensor of a value; a constant's, and what a reshape delayed, is made when it is first needed.
    TensorId tensor_of(ir::ValueId id);
    /// The K rows of a product: a constant in tiles of the array, or what a node computes. Throws ModelError
    /// unless they are floats. Products of other passes may need the constant in other tiles.
    TensorId weights_of(ir::ValueId id, const std::vector<ProductPass>& passes);
    /// Of a value with the elements of another one, whose matrix has this shape: the tensor of that one.
    std::optional<TensorId> reshaped_from(ir::ValueId id, const MatrixShape& shape);
    TensorId new_tensor(const std::string& name, const MatrixShape& shape, bool is_shared);
    TensorId new_tensor(ir::ValueId id);
    /// Words that are known when the network is compiled.
    TensorId new_constant(const std::string& name, const MatrixShape& shape,
                          std::vector<std::uint32_t> words);
    Tensor& tensor(TensorId id) { return network_.tensors[id]; }
    std::uint64_t array_rows() const { return machine_.matrix_unit.rows; }
    std::uint64_t vector_rows() const { return machine_.vector_memory.rows; }
    std::uint64_t panels(std::uint64_t columns) const { return divide_up(columns, lanes()); }

    // Steps.

    void add_step(Step step);
    /// A movement of rows and ranges of columns.
    void add_movement(const std::vector<TensorId>& sources, Movement movement, TensorId result);
    /// The step's result is the value, which element-wise work may follow.
    void set_value(ir::ValueId id, Step step);
    /// The tensor is the value.
    void set_value(ir::ValueId id, TensorId made);
    /// Throws ModelError if the array does not compute the node's sums.
    std::vector<ProductPass> passes_of(const ir::Node& node) const;

private:
    void check_machine() const;
    /// What replaces an input of state is a tensor of its own, which a step writes to the input's next place;
    /// or it is the input itself.
    void add_state();
    /// What is appended to a cache that nothing else reads is written behind it.
    void add_caches();
    static void require_words(const ir::Value& value);
    /// Checks an operand of a product.
    static void require_float(const ir::Value& value);
    void begin_layer(const ir::Node& node);
    std::uint32_t layer() const { return static_cast<std::uint32_t>(network_.layers.size() - 1); }
    void add_node(const ir::NodeView& node);
    /// Closes the gaps of steps that moved behind others, joins steps, packs rows, and orders steps.
    void finish();
    /// Results of windows of lines, which are no packed rows, are packed behind them where that may serve
    /// others.
    void pack_behind_lines();
    /// From which step to which each tensor lives.
    void find_lives();
    /// Layers without a step of their own are part of others.
    void keep_worked_layers();

    TensorId add(Tensor tensor);
    MatrixShape shape_of(ir::ValueId id) const;
    void add_move(const std::vector<TensorId>& sources, const OriginMap& origins, TensorId result);
    /// The elements of a tensor in rows of another length.
    void add_reshape(TensorId source, TensorId result);
    std::uint64_t lanes() const { return machine_.vector_unit.lanes; }
    /// Some columns of a tensor, as a tensor.
    TensorId columns_of(TensorId source, std::uint64_t first, std::uint64_t count);
    /// Adds the step that computes a value, which a chain may follow. `layer_of`: to which it belongs, if not
    /// to the node's.
    void finish_value(ir::ValueId id, Step step, std::optional<std::uint32_t> layer_of = {});

    // Element by element: chains.cpp.

    /// How a chain reads an input. A single constant number has no operand.
    std::optional<Operand> operand_of(ir::ValueId id, const ir::Shape& result, bool result_is_shared);
    /// Whether a chain may follow the step that computes the value, instead of reading its result.
    bool can_follow(ir::ValueId id, const MatrixShape& shape, bool is_shared, ir::NodeId reader) const;
    void add_chain(const ir::NodeView& view);

    // Products: products.cpp.

    void add_product(const ir::NodeView& view, Step step);
    /// Matrices of which both may be computed.
    void add_word_product(const ir::NodeView& view);
    /// Whether there is room to transpose the first input of a product while it comes in.
    bool transposes_on_the_way(const ir::NodeView& view, const Step& step) const;
    /// Whether it is transposed some rows at a time, as there is no room for all of them.
    bool transposes_by_depth(const ir::NodeView& view, const Step& step) const;
    bool has_room_to_transpose(const ir::Shape& shape) const;
    /// The value with its last two axes swapped.
    TensorId swapped_axes(ir::ValueId id);
    /// A constant matrix in tiles of the array.
    TensorId weight_tiles_of(ir::ValueId id, bool is_transposed, const std::vector<ProductPass>& passes);
    /// The tensor with the elements of a value in its order, whatever its shape.
    TensorId elements_of(ir::ValueId id);
    void add_dense(const ir::NodeView& view);
    /// The elements of all data inputs side by side.
    TensorId joined_inputs(const ir::NodeView& view);

    // Convolutions of images whose batch is the graph's: convolutions.cpp.

    void add_convolution(const ir::NodeView& view);
    /// Each group by itself, and their results side by side.
    void add_groups(const ir::NodeView& view);
    void add_depthwise(const ir::NodeView& view);
    /// Each channel several times.
    TensorId repeated_channels(TensorId source, std::uint32_t times);

    // Many numbers become one: reductions.cpp.

    void add_windows(const ir::NodeView& view);
    /// The largest or smallest bfloat16 is one; other results are rounded if they must be.
    void round_reduced(const ir::NodeView& view, Step& step);
    void add_reduction(const ir::NodeView& view);
    /// The value with some of its axes behind the others, as a matrix of these two groups.
    TensorId with_last(ir::ValueId id, const std::vector<std::size_t>& kept,
                       const std::vector<std::size_t>& reduced, const MatrixShape& shape);

    // Elements that go elsewhere: movements.cpp.

    void add_gather(const ir::NodeView& view);
    void add_movement(const ir::NodeView& view);
    /// Of the node that appends to a cache, the step that writes what is appended; false for other nodes.
    bool append_to_cache(const ir::NodeView& view);
    void add_all_reduce(const ir::NodeView& view);

    const ir::Graph& graph_;
    const machine::MachineConfig& machine_;
    const NetworkForm form_;
    const std::vector<std::vector<ir::NodeId>> readers_;
    Network network_;
    std::vector<std::optional<Step>> steps_;
    std::map<ir::ValueId, TensorId> tensors_;
    /// By constant, and whether its tiles are packed.
    using Weights = std::map<std::pair<ir::ValueId, bool>, TensorId>;
    Weights weights_;
    Weights transposed_weights_;
    std::map<ir::ValueId, MatrixShape> side_by_side_;  ///< images with several pixels in a row
    std::map<ir::ValueId, ir::ValueId> reshaped_;      ///< values with the elements of others
    std::map<ir::ValueId, RowBox> cached_;  ///< caches that are appended to: where they are in the result
    std::map<ir::ValueId, std::size_t> producers_;  ///< of `steps_`: those that a chain may follow
};

// Nodes on the last axes of values whose other axes are images.

void add_word_convolution(NetworkBuilder& builder, const ir::NodeView& view);
void add_select_and_scatter(NetworkBuilder& builder, const ir::NodeView& view);

}  // namespace systole::tensor_core
