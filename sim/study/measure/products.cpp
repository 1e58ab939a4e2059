#include "sim/study/measure/products.h"

#include <optional>

namespace systole::measure {
namespace {

/// The weights have a row for each input element of an output, and a column for each output channel.
std::optional<Product> product_of(const ir::NodeView& view, std::uint32_t batch) {
    const ir::Node& node = view.node();
    if (!node.is("dense") && !node.is("convolution")) return std::nullopt;
    const ir::FeatureMap output = view.output_map();
    return Product{.layer = node.name,
                   .m = std::uint64_t{batch} * output.height * output.width,
                   .n = output.channels,
                   .k = ir::weight_count(view) / output.channels};
}

}  // namespace

Products products_of(const ir::Graph& graph, std::uint32_t batch) {
    Products result;
    for (const ir::Node& node : graph.nodes) {
        const ir::NodeView view(graph, node);
        if (const std::optional<Product> product = product_of(view, batch)) {
            result.products.push_back(*product);
        } else if (node.op->macs(view) > 0) {
            result.left_out.push_back(node.name);
        }
    }
    return result;
}

}  // namespace systole::measure
