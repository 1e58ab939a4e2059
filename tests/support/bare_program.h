#pragma once

#include <string_view>
#include <variant>

#include "hw/isa/program.h"

/// Programs without the numbers of their networks: what is left follows from shapes alone.
namespace systole::tests {

/// Registers that hold a number of the network; all others follow from its shapes.
inline bool holds_value(isa::Register reg) {
    const std::string_view name = isa::name(reg);
    return name.starts_with("output.") || name == "window.pad_value" ||
           name.starts_with("vector.zero_point") || name.starts_with("vector.multiplier") ||
           name.starts_with("vector.shift");
}

/// The program without values of the network.
inline isa::Program bare(isa::Program program) {
    for (isa::Instruction& instruction : program.instructions) {
        auto* const set = std::get_if<isa::SetConfig>(&instruction);
        if (set != nullptr && holds_value(set->reg)) set->value = 0;
    }
    for (isa::WeightTile& tile : program.tiles) tile.values.clear();
    for (isa::HostBuffer& buffer : program.buffers) buffer.contents.assign(buffer.contents.size(), 0);
    for (auto* tensors : {&program.inputs, &program.outputs}) {
        for (isa::BorderTensor& tensor : *tensors) {
            tensor.scale = 1.0;
            tensor.zero_point = 0;
        }
    }
    return program;
}

}  // namespace systole::tests
