#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/graph/operators/activation.h"
#include "compiler/graph/quantized_network.h"
#include "compiler/passes/encoding.h"

namespace systole::passes {

/// The quantized network as it grows, node by node.
class Quantizer {
public:
    Quantizer(const graph::Graph& graph, std::vector<Range> ranges,
              std::optional<InputEncoding> input_encoding);

    const graph::Graph& graph() const { return graph_; }
    const graph::Node& node(graph::NodeId id) const { return graph_.nodes[id]; }
    const Range& range(graph::NodeId id) const { return ranges_[id]; }
    /// How a node's result is stored: as wide as the node says.
    DataType type(graph::NodeId id) const;
    /// How numbers of the node's range are stored in elements of a type; of its own, where none is given.
    Encoding encoding(graph::NodeId id, DataType type) const { return encoding_of(range(id), type); }
    Encoding encoding(graph::NodeId id) const { return encoding(id, type(id)); }
    const std::optional<InputEncoding>& input_encoding() const { return input_encoding_; }
    bool has_weights() const { return graph_.has_weights; }
    bool is_last(graph::NodeId id) const { return id + 1 == graph_.nodes.size(); }
    /// The activation that is the only reader of a node.
    std::optional<graph::NodeId> activation_after(graph::NodeId id) const;
    const graph::Activation& activation(graph::NodeId id) const;

    /// The tensor that holds a node's result.
    quantized::TensorId tensor_of(graph::NodeId id) const { return *tensors_[id]; }
    /// The tensor a node reads.
    quantized::TensorId input_of(graph::NodeId id, std::size_t input = 0) const {
        return tensor_of(node(id).inputs[input]);
    }
    const quantized::Tensor& tensor(quantized::TensorId id) const { return network_.tensors[id]; }
    bool has_tensor(graph::NodeId id) const { return tensors_[id].has_value(); }

    /// A tensor for a node's result.
    quantized::TensorId add_tensor(graph::NodeId id, const Encoding& encoding);
    /// A tensor for a node's result in another encoding, beside that of the node.
    quantized::TensorId add_rescaled(graph::NodeId id, const Encoding& encoding);
    /// A node's result is held by a tensor that is there already.
    void share_tensor(graph::NodeId id, quantized::TensorId tensor) { tensors_[id] = tensor; }
    void add_layer(graph::NodeId id, std::vector<quantized::TensorId> inputs, quantized::TensorId output,
                   quantized::Operation operation);
    void add_host_operation(std::string kind, std::string layer);

    [[noreturn]] void fail(graph::NodeId id, const std::string& rule) const;
    /// Fails unless the inputs are as wide as the result: the chip converts nothing in between.
    void require_one_width(graph::NodeId id) const;

    quantized::Network finish() &&;

private:
    const graph::Graph& graph_;
    std::vector<Range> ranges_;
    std::optional<InputEncoding> input_encoding_;
    std::vector<std::vector<graph::NodeId>> readers_;
    std::vector<std::optional<quantized::TensorId>> tensors_;  ///< by node
    quantized::Network network_;
};

/// Quantizes a node, if it is of the rule's kind.
using QuantizationRule = bool (*)(Quantizer& quantizer, graph::NodeId id);

bool quantize_input(Quantizer& quantizer, graph::NodeId id);
bool quantize_linear(Quantizer& quantizer, graph::NodeId id);
bool quantize_add(Quantizer& quantizer, graph::NodeId id);
bool quantize_multiply(Quantizer& quantizer, graph::NodeId id);
bool quantize_activation(Quantizer& quantizer, graph::NodeId id);
bool quantize_pool(Quantizer& quantizer, graph::NodeId id);
bool quantize_padding(Quantizer& quantizer, graph::NodeId id);
bool quantize_reshape(Quantizer& quantizer, graph::NodeId id);
bool quantize_concat(Quantizer& quantizer, graph::NodeId id);
bool quantize_slice(Quantizer& quantizer, graph::NodeId id);
bool quantize_softmax(Quantizer& quantizer, graph::NodeId id);

}  // namespace systole::passes
