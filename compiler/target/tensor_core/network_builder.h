#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
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

/// The tensors and steps of a network while it is made, for the nodes that have files of their own.
class NetworkBuilder {
public:
    NetworkBuilder() = default;
    NetworkBuilder(const NetworkBuilder&) = delete;
    NetworkBuilder& operator=(const NetworkBuilder&) = delete;
    virtual ~NetworkBuilder() = default;

    /// The tensor of a value that is there.
    virtual TensorId tensor_of(ir::ValueId id) = 0;
    /// The K rows of a product: a constant in tiles of the array, or what a node computes. Throws ModelError
    /// unless they are floats. Products of other passes may need the constant in other tiles.
    virtual TensorId weights_of(ir::ValueId id, const std::vector<ProductPass>& passes) = 0;
    virtual TensorId new_tensor(const std::string& name, const MatrixShape& shape, bool is_shared) = 0;
    virtual TensorId new_tensor(ir::ValueId id) = 0;
    /// Words that are known when the network is compiled.
    virtual TensorId new_constant(const std::string& name, const MatrixShape& shape,
                                  std::vector<std::uint32_t> words) = 0;
    virtual Tensor& tensor(TensorId id) = 0;

    virtual void add_step(Step step) = 0;
    /// A movement of rows and ranges of columns.
    virtual void add_movement(const std::vector<TensorId>& sources, Movement movement, TensorId result) = 0;
    /// The step's result is the value, which element-wise work may follow.
    virtual void set_value(ir::ValueId id, Step step) = 0;
    /// The tensor is the value.
    virtual void set_value(ir::ValueId id, TensorId made) = 0;
    /// Throws ModelError if the array does not compute the node's sums.
    virtual std::vector<ProductPass> passes_of(const ir::Node& node) const = 0;
};

// Nodes on the last axes of values whose other axes are images.

void add_word_convolution(NetworkBuilder& builder, const ir::NodeView& view);
void add_select_and_scatter(NetworkBuilder& builder, const ir::NodeView& view);

}  // namespace systole::tensor_core
