#include "compiler/frontend/keras/builders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace systole::frontend {
namespace {

struct LayerClass {
    std::string_view name;
    Builder build;
};

constexpr std::array layer_classes{
    LayerClass{"InputLayer", build_input},
    LayerClass{"Conv2D", build_convolution},
    LayerClass{"DepthwiseConv2D", build_depthwise_convolution},
    LayerClass{"Dense", build_dense},
    LayerClass{"BatchNormalization", build_batch_normalization},
    LayerClass{"Rescaling", build_rescaling},
    LayerClass{"Activation", build_activation},
    LayerClass{"ReLU", build_relu},
    LayerClass{"LeakyReLU", build_leaky_relu},
    LayerClass{"Softmax", build_softmax},
    LayerClass{"MaxPooling2D", build_max_pooling},
    LayerClass{"AveragePooling2D", build_average_pooling},
    LayerClass{"GlobalMaxPooling2D", build_global_max_pooling},
    LayerClass{"GlobalAveragePooling2D", build_global_average_pooling},
    LayerClass{"Flatten", build_flatten},
    LayerClass{"Reshape", build_reshape},
    LayerClass{"ZeroPadding2D", build_zero_padding},
    LayerClass{"Add", build_add},
    LayerClass{"Concatenate", build_concatenate},
    LayerClass{"Dropout", build_nothing},
    LayerClass{"SpatialDropout2D", build_nothing},
    LayerClass{"GaussianNoise", build_nothing},
};

}  // namespace

Builder find_builder(std::string_view class_name) {
    const auto* const found = std::ranges::find(layer_classes, class_name, &LayerClass::name);
    return found == layer_classes.end() ? nullptr : found->build;
}

graph::NodeId LayerContext::input() const {
    if (inputs.size() != 1)
        config.fail(fmt::format("it has {} inputs; it must have exactly 1", inputs.size()));
    return inputs[0];
}

std::vector<graph::Shape> LayerContext::input_shapes() const {
    std::vector<graph::Shape> shapes;
    for (const graph::NodeId input : inputs) shapes.push_back(graph_.nodes[input].shape);
    return shapes;
}

graph::NodeId build_nothing(LayerContext& context) {
    return context.input();
}

}  // namespace systole::frontend
