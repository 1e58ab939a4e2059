// Makes inputs and outputs of the network integers where the network converts them itself.
#include "compiler/passes/absorb_border_conversions.h"

#include <numeric>
#include <vector>

#include "base/conversion.h"
#include "compiler/ir/border_values.h"

namespace systole::passes {
namespace {

/// Takes the type and the quantization of integers, which the files' real numbers get.
void become_integers(ir::Value& value, const ir::Value& integers) {
    value.type = integers.type;
    value.quantization = integers.quantization;
    value.range.reset();
}

}  // namespace

ir::Graph absorb_border_conversions(ir::Graph graph) {
    const auto readers = ir::readers(graph);
    const auto producers = ir::producers(graph);
    std::vector<bool> is_output(graph.values.size(), false);
    for (const ir::ValueId output : graph.outputs) is_output[output] = true;
    std::vector<ir::ValueId> by(graph.values.size());  // what nodes read instead of each value
    std::iota(by.begin(), by.end(), ir::ValueId{0});
    for (const ir::ValueId input : graph.inputs) {
        if (readers[input].size() != 1 || is_output[input]) continue;
        const ir::Node& node = graph.nodes[readers[input].front()];
        const ir::Value& integers = graph.values[node.output()];
        if (!node.is("quantize") || integers.quantization->axis || is_output[node.output()]) continue;
        become_integers(graph.values[input], integers);
        graph.values[input].conversion =
            node.integer("half_to_even") != 0 ? Conversion::HalfToEven : Conversion::HalfAway;
        by[node.output()] = input;
    }
    for (ir::Node& node : graph.nodes) {
        for (ir::ValueId& input : node.inputs) input = by[input];
    }
    const ir::BorderValues border(graph);
    for (ir::ValueId& output : graph.outputs) {
        if (!producers[output]) continue;
        const ir::Node& node = graph.nodes[*producers[output]];
        if (!node.is("dequantize")) continue;
        const ir::ValueId integers = node.inputs.front();
        ir::Value& value = graph.values[integers];
        const bool is_own = !value.constant && !value.quantization->axis && !border.is_input(integers) &&
                            !is_output[integers];
        if (!is_own) continue;
        value.name = graph.values[output].name;
        value.file_axes = graph.values[output].file_axes;
        value.before = graph.values[output].before;
        output = integers;
        is_output[integers] = true;
    }
    ir::remove_unread(graph);
    return graph;
}

}  // namespace systole::passes
