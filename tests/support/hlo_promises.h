#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/frontend/hlo/module.h"
#include "compiler/ir/graph.h"

namespace systole::tests {

/// Whether the elements of an array, and the bytes of a constant of it, are as many as its dimensions say.
inline bool is_whole_array(const hlo::Shape& shape, const hlo::Instruction& instruction) {
    std::uint64_t elements = 1;
    for (const std::int64_t extent : shape.dimensions) elements *= static_cast<std::uint64_t>(extent);
    if (shape.elements != elements || elements > ir::maximum_elements) return false;
    return instruction.opcode != hlo::Opcode::Constant ||
           hlo::attributes_of<hlo::Constant>(instruction).bytes.size() ==
               elements * hlo::traits_of(shape.type).bytes;
}

/// Whether the sharding of an array fits it and names devices of the module.
inline bool is_whole_part(const hlo::Sharding& sharding, const hlo::Shape& array, const hlo::Module& module) {
    const bool is_tiled = sharding.kind == hlo::Sharding::Kind::Tiled;
    return sharding.kind != hlo::Sharding::Kind::Tuple && sharding.parts.empty() &&
           sharding.tiles.size() == (is_tiled ? array.rank() : 0) + sharding.last_tiles.size() &&
           std::ranges::all_of(sharding.devices,
                               [&](std::uint32_t device) { return device < module.devices; });
}

/// The same for a value of any shape: the parts from `next` on are those of its arrays.
inline bool has_whole_parts(const std::vector<hlo::Sharding>& parts, std::size_t& next,
                            const hlo::Shape& shape, const hlo::Module& module) {
    if (!shape.is_tuple) return next < parts.size() && is_whole_part(parts[next++], shape, module);
    return std::ranges::all_of(shape.parts, [&](hlo::ShapeId part) {
        return has_whole_parts(parts, next, module.shapes[part], module);
    });
}

inline bool is_whole_sharding(const hlo::Sharding& sharding, const hlo::Shape& shape,
                              const hlo::Module& module) {
    if (!shape.is_tuple) return is_whole_part(sharding, shape, module);
    std::size_t next = 0;
    return sharding.kind == hlo::Sharding::Kind::Tuple && sharding.tiles.empty() &&
           sharding.devices.empty() && has_whole_parts(sharding.parts, next, shape, module) &&
           next == sharding.parts.size();
}

/// What the header promises of a module: the first promise that this one breaks; empty if it keeps all.
inline std::string broken_promise(const hlo::Module& module) {
    if (module.entry >= module.computations.size()) return "the entry is a computation";
    const hlo::Computation& entry = module.entry_computation();
    if (module.arguments.size() != entry.parameters.size()) return "each input of the entry has a name";
    for (std::size_t id = 0; id < module.computations.size(); ++id) {
        const hlo::Computation& computation = module.computations[id];
        if (computation.root >= computation.instructions.size()) return "a root is an instruction";
        for (std::size_t i = 0; i < computation.instructions.size(); ++i) {
            const hlo::Instruction& instruction = computation.instructions[i];
            const auto is_before = [](std::size_t end) {
                return [end](std::size_t place) { return place < end; };
            };
            if (!std::ranges::all_of(instruction.operands, is_before(i)))
                return "operands come before readers";
            if (!std::ranges::all_of(instruction.called, is_before(id))) return "callees come before callers";
            if (instruction.scope >= module.scopes.size()) return "a scope is in the table";
            const hlo::Shape& shape = module.shape_of(instruction);
            if (!shape.is_tuple && !is_whole_array(shape, instruction)) return "arrays have their elements";
            if (instruction.sharding && !is_whole_sharding(*instruction.sharding, shape, module)) {
                return "a sharding fits its instruction";
            }
        }
    }
    const auto is_of = [&](const hlo::Sharding& sharding, hlo::InstructionId id) {
        return is_whole_sharding(sharding, module.shape_of(entry.instructions[id]), module);
    };
    if (module.output_sharding && !is_of(*module.output_sharding, entry.root)) {
        return "the output's sharding fits it";
    }
    if (!module.parameter_shardings.empty() && module.parameter_shardings.size() != entry.parameters.size()) {
        return "each parameter has a sharding, or none has";
    }
    for (std::size_t i = 0; i < module.parameter_shardings.size(); ++i) {
        if (!is_of(module.parameter_shardings[i], entry.parameters[i]))
            return "a sharding fits its parameter";
    }
    return "";
}

}  // namespace systole::tests
