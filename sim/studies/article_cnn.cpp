#include "sim/studies/article_cnn.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"

namespace systole::studies {
namespace {

/// Appends layers, one behind the other.
class Layers {
public:
    Layers(std::string name, const ir::FeatureMap& input) {
        graph_.name = std::move(name);
        graph_.has_weights = false;
        last_ = graph_.add_input("image", ir::image_shape(input));
    }

    void convolution(const std::string& name, std::uint32_t filters, std::uint32_t kernel,
                     std::uint32_t stride) {
        const ir::FeatureMap input = ir::feature_map(graph_.values[last_].shape);
        const ir::Window window = ir::same_window(input, {kernel, kernel}, {stride, stride});
        append(name, "convolution", ir::attributes_of(window),
               ir::Shape{kernel, kernel, input.channels, filters});
        append(name, "relu");
    }

    void dense(const std::string& name, std::uint32_t units) {
        const auto elements = static_cast<std::uint32_t>(graph_.values[last_].shape.elements());
        append(name, "dense", {}, ir::Shape{elements, units});
    }

    void append(const std::string& name, std::string_view op, std::vector<ir::NamedAttribute> attributes = {},
                const std::optional<ir::Shape>& weights = std::nullopt) {
        std::vector<ir::ValueId> inputs{last_};
        if (weights) {
            inputs.push_back(
                graph_.add_constant(name + "/kernel", *weights, DataType::Float32, ir::Constant()));
        }
        last_ = graph_.append(name, operators::registry().at(op), std::move(attributes), std::move(inputs));
        graph_.outputs = {last_};
    }

    ir::Graph take() && { return std::move(graph_); }

private:
    ir::Graph graph_;
    ir::ValueId last_ = 0;
};

}  // namespace

ir::Graph article_cnn(const ArticleCnn& which) {
    const std::uint32_t side = 28 * which.size_multiplier;
    const std::uint32_t width = which.width_multiplier;
    Layers layers(fmt::format("mnist_cnn, size x{}, width x{}", which.size_multiplier, width),
                  {.height = side, .width = side, .channels = 1});
    layers.convolution("conv2d", 12 * width, 3, 1);
    layers.convolution("conv2d_1", 24 * width, 6, 2);
    layers.convolution("conv2d_2", 64 * width, 6, 2);
    layers.dense("dense", 200 * width);
    layers.append("dense", "relu");
    layers.dense("dense_1", 10);
    layers.append("dense_1", "softmax");
    return std::move(layers).take();
}

}  // namespace systole::studies
