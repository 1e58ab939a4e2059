// Makes inputs and outputs of the network integers where the network converts them itself.
#include "compiler/passes/absorb_border_conversions.h"

#include "compiler/operators/operator.h"

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
    for (const ir::ValueId input : graph.inputs) {
        if (readers[input].size() != 1 || ir::is_output(graph, input)) continue;
        const ir::Node& node = graph.nodes[readers[input].front()];
        const ir::Value& integers = graph.values[node.output()];
        if (!node.is("quantize") || integers.quantization->axis || ir::is_output(graph, node.output())) {
            continue;
        }
        become_integers(graph.values[input], integers);
        ir::replace_value(graph, node.output(), input);
    }
    for (ir::ValueId& output : graph.outputs) {
        if (!producers[output]) continue;
        const ir::Node& node = graph.nodes[*producers[output]];
        if (!node.is("dequantize")) continue;
        const ir::ValueId integers = node.inputs.front();
        ir::Value& value = graph.values[integers];
        const bool is_own = !value.constant && !value.quantization->axis && !ir::is_input(graph, integers) &&
                            !ir::is_output(graph, integers);
        if (!is_own) continue;
        value.name = graph.values[output].name;
        value.file_axes = graph.values[output].file_axes;
        value.before = graph.values[output].before;
        output = integers;
    }
    ir::remove_unread(graph);
    return graph;
}

}  // namespace systole::passes
