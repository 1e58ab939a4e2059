#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/quantized_network.h"
#include "compiler/ir/graph.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/encoding.h"

namespace systole::passes {

/// The quantized network as it grows, node by node.
class Quantizer {
public:
    Quantizer(const ir::Graph& graph, std::vector<Range> ranges, std::optional<InputEncoding> input_encoding);

    const ir::Graph& graph() const { return graph_; }
    ir::NodeView view(const ir::Node& node) const { return {graph_, node}; }
    const Range& range(ir::ValueId id) const { return ranges_[id]; }
    /// How an activation is stored.
    DataType type(ir::ValueId id) const;
    /// How numbers of the activation's range are stored in elements of a type; of its own, where none is
    /// given.
    Encoding encoding(ir::ValueId id, DataType type) const { return encoding_of(range(id), type); }
    Encoding encoding(ir::ValueId id) const { return encoding(id, type(id)); }
    const std::optional<InputEncoding>& input_encoding() const { return input_encoding_; }
    bool has_weights() const { return graph_.has_weights; }
    bool is_last(ir::ValueId id) const { return ir::is_output(graph_, id); }
    /// The node of an activation function that alone reads a value, or null.
    const ir::Node* function_after(ir::ValueId id) const;
    /// The function that such a node computes.
    static operators::ElementFunction function_of(const ir::Node& node);
    static std::optional<float> clamp_limit(const ir::Node& node) {
        return operators::operator_of(node).clamp_limit(node);
    }

    /// The tensor that holds an activation. Throws ModelError where the value is constant.
    quantized::TensorId tensor_of(ir::ValueId id) const;
    const quantized::Tensor& tensor(quantized::TensorId id) const { return network_.tensors[id]; }
    bool has_tensor(ir::ValueId id) const { return tensors_[id].has_value(); }

    /// A tensor for a value.
    quantized::TensorId add_tensor(ir::ValueId id, const Encoding& encoding);
    /// A tensor for a value in another encoding, beside its own.
    quantized::TensorId add_rescaled(ir::ValueId id, const Encoding& encoding);
    /// A value is held by a tensor that is there already.
    void share_tensor(ir::ValueId id, quantized::TensorId tensor) { tensors_[id] = tensor; }
    void add_layer(const ir::Node& node, std::vector<quantized::TensorId> inputs, quantized::TensorId output,
                   quantized::Operation operation);
    void add_host_operation(std::string kind, std::string layer);

    [[noreturn]] void fail(ir::ValueId id, const std::string& rule) const;
    /// Fails unless the inputs are as wide as the result: the chip converts nothing in between.
    void require_one_width(const ir::Node& node) const;

    quantized::Network finish() &&;

private:
    const ir::Graph& graph_;
    std::vector<Range> ranges_;
    std::optional<InputEncoding> input_encoding_;
    std::vector<std::vector<ir::NodeId>> readers_;
    std::vector<std::optional<quantized::TensorId>> tensors_;  ///< by value
    quantized::Network network_;
};

void quantize_input(Quantizer& quantizer, ir::ValueId id);
/// Quantizes a node, if it is of the rule's kind.
using QuantizationRule = bool (*)(Quantizer& quantizer, const ir::Node& node);
bool quantize_linear(Quantizer& quantizer, const ir::Node& node);
bool quantize_add(Quantizer& quantizer, const ir::Node& node);
bool quantize_multiply(Quantizer& quantizer, const ir::Node& node);
bool quantize_function(Quantizer& quantizer, const ir::Node& node);
bool quantize_pool(Quantizer& quantizer, const ir::Node& node);
bool quantize_padding(Quantizer& quantizer, const ir::Node& node);
bool quantize_reshape(Quantizer& quantizer, const ir::Node& node);
bool quantize_concat(Quantizer& quantizer, const ir::Node& node);
bool quantize_slice(Quantizer& quantizer, const ir::Node& node);
bool quantize_softmax(Quantizer& quantizer, const ir::Node& node);

}  // namespace systole::passes
