#pragma once

#include <memory>
#include <vector>

#include "compiler/frontend/keras/model_config.h"
#include "compiler/frontend/keras/weights.h"
#include "compiler/frontend/layer_config.h"
#include "compiler/graph/graph.h"

namespace systole::frontend {

/// What a builder turns one layer into nodes with.
class LayerContext {
public:
    LayerContext(const KerasLayer& layer, const WeightSource& weights, graph::Graph& graph,
                 std::vector<graph::NodeId> input_nodes)
        : config(layer.config, layer_place(layer.name)),
          inputs(std::move(input_nodes)),
          layer_(layer),
          weights_(weights),
          graph_(graph) {}

    /// The input of a layer that has one.
    graph::NodeId input() const;
    graph::Shape input_shape() const { return graph_.nodes[input()].shape; }
    std::vector<graph::Shape> input_shapes() const;

    std::vector<float> weight(std::initializer_list<std::string_view> roles,
                              const std::vector<std::uint64_t>& weight_shape) const {
        return weights_.read(layer_.name, roles, weight_shape);
    }
    graph::NodeId append(std::unique_ptr<graph::Operator> op, std::vector<graph::NodeId> from) {
        return graph_.append(layer_.name, std::move(op), std::move(from));
    }

    const LayerConfig config;
    const std::vector<graph::NodeId> inputs;

private:
    const KerasLayer& layer_;
    const WeightSource& weights_;
    graph::Graph& graph_;
};

/// Appends the nodes of a layer and returns the one with its result.
using Builder = graph::NodeId (*)(LayerContext& context);

/// The builder of a layer class, or null. All classes that can be read stand in one table.
Builder find_builder(std::string_view class_name);

graph::NodeId build_input(LayerContext& context);
graph::NodeId build_convolution(LayerContext& context);
graph::NodeId build_depthwise_convolution(LayerContext& context);
graph::NodeId build_dense(LayerContext& context);
graph::NodeId build_batch_normalization(LayerContext& context);
graph::NodeId build_rescaling(LayerContext& context);
graph::NodeId build_activation(LayerContext& context);
graph::NodeId build_relu(LayerContext& context);
graph::NodeId build_leaky_relu(LayerContext& context);
graph::NodeId build_softmax(LayerContext& context);
graph::NodeId build_max_pooling(LayerContext& context);
graph::NodeId build_average_pooling(LayerContext& context);
graph::NodeId build_global_max_pooling(LayerContext& context);
graph::NodeId build_global_average_pooling(LayerContext& context);
graph::NodeId build_flatten(LayerContext& context);
graph::NodeId build_reshape(LayerContext& context);
graph::NodeId build_zero_padding(LayerContext& context);
graph::NodeId build_add(LayerContext& context);
graph::NodeId build_concatenate(LayerContext& context);
/// A layer that does something in training only.
graph::NodeId build_nothing(LayerContext& context);

/// The activation a layer of another kind applies to its own result.
graph::NodeId append_own_activation(LayerContext& context, graph::NodeId result);
/// The windows of a convolution or pooling layer, from its strides and padding.
graph::Window read_window(const LayerContext& context, const std::array<std::uint32_t, 2>& kernel,
                          const std::array<std::uint32_t, 2>& strides);

}  // namespace systole::frontend
