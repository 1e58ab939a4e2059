// Quantizes a simplified graph to 8 bits, with one rule for each kind of node.
#include "compiler/passes/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "compiler/passes/quantizer.h"

namespace systole::passes {
namespace {

constexpr std::array<QuantizationRule, 8> rules{
    quantize_input, quantize_linear,  quantize_add,     quantize_activation,
    quantize_pool,  quantize_padding, quantize_reshape, quantize_softmax,
};

}  // namespace

quantized::Network quantize(const graph::Graph& graph, const Calibration& calibration) {
    Quantizer quantizer(graph, calibrate(graph, calibration), calibration.encoding);
    for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
        if (quantizer.has_tensor(id)) continue;  // an activation that the layer before it has taken over
        const bool done =
            std::ranges::any_of(rules, [&](QuantizationRule rule) { return rule(quantizer, id); });
        if (!done) {
            throw std::logic_error(fmt::format("quantize: no rule for {}; is the graph simplified?",
                                               graph.nodes[id].op->kind()));
        }
    }
    return std::move(quantizer).finish();
}

}  // namespace systole::passes
