#include "sim/measure/products.h"

#include <optional>

#include "compiler/graph/operators/convolution.h"
#include "compiler/graph/operators/dense.h"

namespace systole::measure {
namespace {

std::optional<Product> product_of(const graph::Node& node, std::uint32_t batch) {
    if (const auto* dense = dynamic_cast<const graph::Dense*>(node.op.get())) {
        return Product{.layer = node.name, .m = batch, .n = dense->units, .k = dense->in_elements};
    }
    if (const auto* convolution = dynamic_cast<const graph::Convolution*>(node.op.get())) {
        const graph::Window& window = convolution->window;
        return Product{
            .layer = node.name,
            .m = std::uint64_t{batch} * node.shape.height * node.shape.width,
            .n = convolution->filters,
            .k = std::uint64_t{window.kernel_height} * window.kernel_width * convolution->in_channels};
    }
    return std::nullopt;
}

}  // namespace

Products products_of(const graph::Graph& graph, std::uint32_t batch) {
    Products result;
    for (const graph::Node& node : graph.nodes) {
        if (const std::optional<Product> product = product_of(node, batch)) {
            result.products.push_back(*product);
        } else if (node.op->macs(graph::input_shapes(graph, node)) > 0) {
            result.left_out.push_back(node.name);
        }
    }
    return result;
}

}  // namespace systole::measure
