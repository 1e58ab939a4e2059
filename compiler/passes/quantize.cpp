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

constexpr std::array<QuantizationRule, 11> rules{
    quantize_input,      quantize_linear, quantize_add,     quantize_multiply,
    quantize_activation, quantize_pool,   quantize_padding, quantize_reshape,
    quantize_concat,     quantize_slice,  quantize_softmax,
};

/// Of results that cannot be computed. No instruction depends on them, but on whether the input has the range
/// of another: as with values, it has its own.
std::vector<Range> assumed_ranges(const graph::Graph& graph) {
    std::vector<Range> ranges(graph.nodes.size(), Range{-1.0F, 1.0F});
    ranges.front() = {-2.0F, 2.0F};
    return ranges;
}

}  // namespace

quantized::Network quantize(const graph::Graph& graph, const Calibration& calibration) {
    std::vector<Range> ranges = graph.has_weights ? calibrate(graph, calibration) : assumed_ranges(graph);
    Quantizer quantizer(graph, unite_ranges(graph, std::move(ranges)), calibration.encoding);
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
