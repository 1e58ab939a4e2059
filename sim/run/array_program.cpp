#include "sim/run/array_program.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "hw/math/floats/word_values.h"
#include "sim/run/arrays.h"
#include "sim/run/network.h"

namespace systole::run {
namespace {

/// Programs have sizes where the network has a number.
void declare(std::vector<isa::BorderTensor>& tensors, const std::vector<ir::ValueId>& values,
             const ir::Graph& graph) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const ir::Value& value = graph.values[values.at(i)];
        tensors[i].shape = axes_of_inference(value).extents;
        tensors[i].split_axis = value.split_axis;
    }
}

isa::ConstantOutput constant_output(const ir::Graph::ConstantOutput& output) {
    const ir::Value& value = output.value;
    std::vector<std::uint32_t> words(value.shape.elements());
    math::to_words(value.constant->bytes().data(), value.type, words);
    isa::ConstantOutput constant{
        .place = static_cast<std::uint32_t>(output.place),
        .tensor = {.name = value.name,
                   .shape = {value.shape.extents().begin(), value.shape.extents().end()},
                   .type = value.file_type.value_or(value.type)}};
    constant.words.resize(words.size() * isa::word_bytes);
    std::memcpy(constant.words.data(), words.data(), constant.words.size());
    return constant;
}

}  // namespace

void declare_arrays(isa::Program& program, const ir::Graph& graph, const machine::MachineConfig& machine) {
    if (!takes_arrays(graph, machine)) return;
    declare(program.inputs, graph.inputs, graph);
    declare(program.outputs, graph.outputs, graph);
    isa::ArrayFiles arrays{.replicas = graph.replicas};
    for (const ir::Graph::ConstantOutput& output : graph.constant_outputs) {
        if (output.value.constant->is_known()) arrays.constants.push_back(constant_output(output));
    }
    program.arrays = std::move(arrays);
}

}  // namespace systole::run
