#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/ir/encoding.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/calibrate.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/ready_for_run.h"
#include "tests/support/file_order.h"

/// Quantized networks compared with the float networks that they were.
namespace systole::tests {

using Tensors = std::vector<std::vector<float>>;

/// Calibration with `count` inferences, in the order of the file's axes.
inline passes::Calibration calibration_of(const ir::Graph& graph, const Tensors& inputs,
                                          std::uint32_t count) {
    Tensors moved = in_graph_order(graph, inputs);
    passes::Calibration calibration{.inputs = std::move(moved.front()), .count = count, .encoding = {}};
    moved.erase(moved.begin());
    calibration.further_inputs = std::move(moved);
    return calibration;
}

/// A float network as the chip computes it. As for a run, transpositions move first: then inputs have the
/// order of axes in which they are calibrated. Throws std::logic_error if passes change this order.
inline ir::Graph quantized(const ir::Graph& graph, const Tensors& inputs, std::uint32_t count) {
    const ir::Graph moved = passes::ready_for_run(graph);
    ir::Graph result = passes::prepare(moved, calibration_of(moved, inputs, count));
    passes::check_borders(moved, result);
    return result;
}

/// The outputs of a quantized network as real numbers, in the order of the file.
inline Tensors real_outputs(const ir::Graph& quantized, const Tensors& inputs, std::uint32_t batch) {
    Tensors stored = inputs;
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const ir::Value& value = quantized.values[quantized.inputs[i]];
        if (!value.quantization) continue;
        const ir::Encoding encoding = ir::encoding_of(value);
        for (float& number : stored[i]) number = static_cast<float>(encoding.stored(double{number}));
    }
    Tensors outputs = run_in_file_order(quantized, stored, batch);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ir::Value& value = quantized.values[quantized.outputs[i]];
        if (!value.quantization) continue;
        const ir::Encoding encoding = ir::encoding_of(value);
        for (float& number : outputs[i]) {
            number = static_cast<float>(encoding.real(static_cast<std::int32_t>(number)));
        }
    }
    return outputs;
}

/// The root of the mean square of the differences, as a part of the largest number.
inline double relative_error(const std::vector<float>& expected, const std::vector<float>& outputs) {
    double squares = 0.0;
    double largest = 0.05;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        squares += std::pow(double{expected[i]} - double{outputs[i]}, 2);
        largest = std::max(largest, std::abs(double{expected[i]}));
    }
    return std::sqrt(squares / static_cast<double>(expected.size())) / largest;
}

}  // namespace systole::tests
