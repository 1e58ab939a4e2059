#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/graph_json/seeded_weights.h"
#include "compiler/frontend/layer_config.h"
#include "compiler/graph/graph.h"

/// Layers of graph files (schema sim.graph/1): a small function for each `op`.
namespace systole::frontend::graph_json {

/// `activation_bits`: 8 or 16.
std::uint8_t read_activation_bits(const LayerConfig& config, std::uint8_t absent);

/// What a builder turns one layer into nodes with.
class LayerContext {
public:
    /// `default_bits` of activations, where the layer does not say otherwise.
    LayerContext(const nlohmann::json& layer, std::string layer_name, std::vector<graph::NodeId> input_nodes,
                 std::uint8_t default_bits, SeededWeights& weights, graph::Graph& graph)
        : config(layer, layer_place(layer_name)),
          inputs(std::move(input_nodes)),
          name_(std::move(layer_name)),
          activation_bits_(read_activation_bits(config, default_bits)),
          weights_(weights),
          graph_(graph) {}

    /// The input of a layer that has one.
    graph::NodeId input() const;
    graph::Shape input_shape() const { return graph_.nodes[input()].shape; }
    const graph::Shape& shape_of(graph::NodeId node) const { return graph_.nodes[node].shape; }

    /// Weights whose sums over `fan_in` inputs are as large as the inputs are: uniform within
    /// sqrt(3 / fan_in), or sqrt(6 / fan_in) before a ReLU, which halves the mean square (He et al. 2015).
    std::vector<float> kernel(const std::vector<std::uint64_t>& shape, double fan_in) const;
    /// Small values, or nothing where `bias` is false.
    std::vector<float> bias(std::uint64_t channels) const;
    /// Values between -limit and limit, where values are read.
    std::vector<float> values(std::uint64_t size, double limit, const std::string& role) const;

    graph::NodeId append(std::unique_ptr<graph::Operator> op, std::vector<graph::NodeId> from) {
        return graph_.append(name_, std::move(op), std::move(from), activation_bits_);
    }
    /// Appends the function that `activation` names, if it does, to the layer's own result.
    graph::NodeId append_own_activation(graph::NodeId result);

    const LayerConfig config;
    const std::vector<graph::NodeId> inputs;

private:
    std::string name_;
    std::uint8_t activation_bits_;
    SeededWeights& weights_;
    graph::Graph& graph_;
};

/// Appends the nodes of a layer and returns the one with its result.
using Builder = graph::NodeId (*)(LayerContext& context);

/// The builder of an `op`, or null. All that can be read stand in one table.
Builder find_builder(std::string_view op);
/// The names of all, for messages.
std::vector<std::string> operator_names();

graph::NodeId build_dense(LayerContext& context);
graph::NodeId build_convolution(LayerContext& context);
graph::NodeId build_depthwise_convolution(LayerContext& context);
graph::NodeId build_batch_normalization(LayerContext& context);
graph::NodeId build_max_pool(LayerContext& context);
graph::NodeId build_average_pool(LayerContext& context);
graph::NodeId build_global_max_pool(LayerContext& context);
graph::NodeId build_global_average_pool(LayerContext& context);
graph::NodeId build_add(LayerContext& context);
graph::NodeId build_multiply(LayerContext& context);
graph::NodeId build_concat(LayerContext& context);
graph::NodeId build_slice(LayerContext& context);
graph::NodeId build_linear(LayerContext& context);
graph::NodeId build_relu(LayerContext& context);
graph::NodeId build_leaky_relu(LayerContext& context);
graph::NodeId build_elu(LayerContext& context);
graph::NodeId build_selu(LayerContext& context);
graph::NodeId build_sigmoid(LayerContext& context);
graph::NodeId build_tanh(LayerContext& context);
graph::NodeId build_swish(LayerContext& context);
graph::NodeId build_softplus(LayerContext& context);
graph::NodeId build_softmax(LayerContext& context);
graph::NodeId build_flatten(LayerContext& context);
graph::NodeId build_reshape(LayerContext& context);
graph::NodeId build_zero_padding(LayerContext& context);

/// [n] or [height, width, channels], each at least 1.
graph::Shape read_shape(const LayerConfig& config, const char* key);
/// [top, left, bottom, right], each at least 0.
std::array<std::uint32_t, 4> read_sides(const LayerConfig& config, const char* key);
/// An integer from 0 to 2^32 - 1.
std::uint32_t read_unsigned(const LayerConfig& config, const char* key);
/// `seed`: an integer from 0 to 2^64 - 1.
std::uint64_t read_seed(const LayerConfig& config);
/// The windows of a convolution or pooling layer: `kernel`, `stride` (absent: the default), `padding`.
graph::Window read_window(const LayerContext& context,
                          const std::optional<std::array<std::uint32_t, 2>>& default_stride);

}  // namespace systole::frontend::graph_json
