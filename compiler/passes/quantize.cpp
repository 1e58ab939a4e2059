// Quantizes a simplified graph, by the rule of each node's operator.
#include "compiler/passes/quantize.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"

namespace systole::passes {
namespace {

void quantize_input(operators::Quantizer& quantizer, ir::ValueId id,
                    const std::optional<InputEncoding>& given) {
    if (quantizer.graph().values[id].type != DataType::Float32) return quantizer.add_integer_input(id);
    ir::Encoding encoding = quantizer.encoding(id);
    // The given encoding applies to bytes only.
    if (given && bytes_of(encoding.type) != 2) {
        const std::int32_t largest_byte = highest_of(encoding.type);
        if (!(given->scale > 0.0) || !std::isfinite(given->scale)) {
            quantizer.fail(id, fmt::format("the scale of the input is {}; it must be above 0", given->scale));
        }
        if (given->zero_point < 0 || given->zero_point > largest_byte) {
            quantizer.fail(id, fmt::format("the zero point of the input is {}; it must be 0 to {}",
                                           given->zero_point, largest_byte));
        }
        encoding = {given->scale, given->zero_point, encoding.type};
    }
    quantizer.add_input(id, encoding);
}

}  // namespace

ir::Graph quantize(const ir::Graph& graph, const std::optional<InputEncoding>& input,
                   bool quantizes_products) {
    if (ir::is_quantized(graph)) return graph;
    operators::Quantizer quantizer(graph, quantizes_products);
    for (const ir::ValueId id : graph.inputs) quantize_input(quantizer, id, input);
    for (const ir::Node& node : graph.nodes) {
        // A function may already be part of the layer before it.
        if (quantizer.is_stored(node.outputs.front())) continue;
        operators::operator_of(node).quantize(node, quantizer);
    }
    return std::move(quantizer).finish();
}

}  // namespace systole::passes
