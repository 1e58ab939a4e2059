#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/ir/encoding.h"
#include "compiler/operators/host_segments.h"
#include "compiler/passes/calibrate.h"
#include "compiler/passes/quantize.h"
#include "compiler/passes/unite_ranges.h"
#include "compiler/reference/executor.h"
#include "tests/support/graphs.h"

/// Comparison of a pass's result with its input.
namespace systole::passes::tests {

/// "input", followed by the operators of the nodes in order, each followed by a space.
inline std::string kinds(const ir::Graph& graph) {
    std::string text = "input ";
    for (const ir::Node& node : graph.nodes) text += std::string(node.op->name()) + " ";
    return text;
}

/// The largest difference between the results of two graphs for the same three inputs.
inline double difference(const ir::Graph& a, const ir::Graph& b) {
    constexpr std::uint32_t batch = 3;
    systole::tests::GraphParts parts(99);
    const std::vector<float> inputs = parts.values(batch * a.input().shape.elements());
    return systole::tests::largest_difference(reference::execute(a, inputs, batch),
                                              reference::execute(b, inputs, batch));
}

/// A simplified graph on integers.
inline ir::Graph quantized(const ir::Graph& graph, const Calibration& calibration) {
    return quantize(unite_ranges(calibrate(graph, calibration)), calibration.encoding);
}

/// The first node of an operator.
inline const ir::Node& node_of(const ir::Graph& graph, const std::string& op) {
    for (const ir::Node& node : graph.nodes) {
        if (node.is(op)) return node;
    }
    throw std::logic_error("there is no " + op);
}

/// The largest difference between a graph and its quantized form, in steps of the output.
inline double error_in_steps(const ir::Graph& graph, const ir::Graph& integers,
                             const std::vector<float>& inputs) {
    const auto images = static_cast<std::uint32_t>(inputs.size() / graph.input().shape.elements());
    const ir::Encoding in = ir::encoding_of(integers.input());
    const ir::Encoding out = ir::encoding_of(integers.values[operators::program_output(integers)]);
    std::vector<std::uint8_t> stored;
    for (const float value : inputs) stored.push_back(static_cast<std::uint8_t>(in.stored(value)));
    const std::vector<std::uint8_t> bytes = reference::execute(integers, stored, images);
    const std::vector<float> expected = reference::execute(graph, inputs, images);
    REQUIRE(bytes.size() == expected.size());
    double worst = 0.0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        worst = std::max(worst, std::abs(out.real(bytes[i]) - double{expected[i]}));
    }
    return worst / out.scale;
}

}  // namespace systole::passes::tests
