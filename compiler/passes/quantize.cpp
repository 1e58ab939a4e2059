// Quantizes a simplified graph, with one rule for each kind of node.
#include "compiler/passes/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "compiler/passes/quantizer.h"
#include "compiler/passes/unite_ranges.h"

namespace systole::passes {
namespace {

constexpr std::array<QuantizationRule, 10> rules{
    quantize_linear,  quantize_add,     quantize_multiply, quantize_function, quantize_pool,
    quantize_padding, quantize_reshape, quantize_concat,   quantize_slice,    quantize_softmax,
};

/// Of results that cannot be computed. No instruction depends on them, but on whether the input has the range
/// of another: as with values, it has its own.
std::vector<Range> assumed_ranges(const ir::Graph& graph) {
    std::vector<Range> ranges(graph.values.size(), Range{-1.0F, 1.0F});
    for (const ir::ValueId input : graph.inputs) ranges[input] = {-2.0F, 2.0F};
    return ranges;
}

}  // namespace

quantized::Network quantize(const ir::Graph& graph, const Calibration& calibration) {
    std::vector<Range> ranges = graph.has_weights ? calibrate(graph, calibration) : assumed_ranges(graph);
    Quantizer quantizer(graph, unite_ranges(graph, std::move(ranges)), calibration.encoding);
    for (const ir::ValueId input : graph.inputs) quantize_input(quantizer, input);
    for (const ir::Node& node : graph.nodes) {
        if (quantizer.has_tensor(node.output()))
            continue;  // a function that the layer before it has taken over
        const bool done =
            std::ranges::any_of(rules, [&](QuantizationRule rule) { return rule(quantizer, node); });
        if (!done) {
            throw std::logic_error(
                fmt::format("quantize: no rule for {}; is the graph simplified?", node.op->name()));
        }
    }
    return std::move(quantizer).finish();
}

}  // namespace systole::passes
