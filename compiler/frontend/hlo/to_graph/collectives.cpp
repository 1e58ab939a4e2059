// Work of several devices together.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {

Arrays map_all_reduce(GraphMaker& maker, const Operation& operation) {
    const Module& module = maker.module();
    const auto& collective = operation.attributes<Collective>();
    const Computation& computation = module.computations.at(operation.instruction.called.front());
    const std::size_t group = collective.groups.empty() ? module.devices : collective.groups.front().size();
    Arrays arrays;
    for (const Arrays& operand : operation.operands)
        arrays.insert(arrays.end(), operand.begin(), operand.end());
    if (group == 1) return arrays;
    if (group != module.devices) {
        throw ModelError(
            fmt::format("it combines groups of {} of {} devices; programs are compiled that combine all",
                        group, module.devices));
    }
    const Instruction& root = computation.instructions[computation.root];
    const auto is_float_sum = [&](const Array& array) { return is_float(array.type); };
    if (root.opcode != Opcode::Add || !std::ranges::all_of(arrays, is_float_sum)) {
        throw ModelError("it combines by another operation than the sum of floats, which alone is compiled");
    }
    std::vector<ir::ValueId> inputs;
    std::vector<DataType> types;
    for (const Array& array : arrays) {
        ir::ValueId id = maker.value_of(array);
        if (maker.value(id).type != DataType::Float32) {
            id = maker
                     .chain(
                         ElementType::F32, array.dimensions, {array},
                         [](std::span<const ir::Word> in) { return apply(WordOperation::Or, in[0], in[0]); })
                     .id;
        }
        if (maker.value(id).constant) throw ModelError("it sums a constant, which is not compiled");
        inputs.push_back(id);
        types.push_back(DataType::Float32);
    }
    const std::vector<ir::ValueId> sums = maker.append_all(
        "all_reduce", {{"parts", std::int64_t{module.devices}}}, std::move(inputs), std::move(types));
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const ElementType type = arrays[i].type;
        const Array sum{.id = sums[i], .type = ElementType::F32, .dimensions = arrays[i].dimensions};
        arrays[i] = type == ElementType::F32 ? sum : converted(maker, sum, type);
    }
    return arrays;
}

namespace {

/// The only axis along which an array is larger than its part; none if they are alike.
std::optional<std::uint32_t> split_axis_of(const Numbers& whole, const Numbers& part, std::uint32_t devices) {
    std::optional<std::uint32_t> axis;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        if (whole[i] == part[i]) continue;
        if (axis || whole[i] != part[i] * devices) {
            throw ModelError(fmt::format(
                "an array of {} has parts of {} on {} devices; programs are compiled "
                "whose arrays are split along one axis, over all devices",
                array_text(ElementType::F32, whole), array_text(ElementType::F32, part), devices));
        }
        axis = static_cast<std::uint32_t>(i);
    }
    return axis;
}

bool makes_parts(CustomTarget target) {
    return target == CustomTarget::GlobalToLocalShape || target == CustomTarget::FullToShardShape;
}

/// The array number `i` of a value.
const Shape& part_shape(const Module& module, ShapeId id, std::size_t i) {
    const Shape& shape = module.shapes[id];
    return shape.is_tuple ? module.shapes[shape.parts.at(i)] : shape;
}

}  // namespace

std::optional<Array> part_of_input(const Module& module, InstructionId parameter) {
    const Computation& entry = module.entry_computation();
    const Shape& whole = module.shape_of(entry.instructions[parameter]);
    for (const Instruction& instruction : entry.instructions) {
        if (instruction.opcode != Opcode::CustomCall) continue;
        const CustomTarget target = attributes_of<CustomCall>(instruction).target;
        const auto found = std::ranges::find(instruction.operands, parameter);
        if (found == instruction.operands.end()) continue;
        if (target == CustomTarget::Sharding) {
            // It only says where the array is; who reads it makes the parts.
            const auto id = static_cast<InstructionId>(&instruction - entry.instructions.data());
            if (auto part = part_of_input(module, id)) return part;
        }
        if (!makes_parts(target)) continue;
        const Shape& part = part_shape(module, instruction.shape,
                                       static_cast<std::size_t>(found - instruction.operands.begin()));
        return Array{.id = 0,
                     .type = part.type,
                     .dimensions = part.dimensions,
                     .is_global = true,
                     .split_axis = split_axis_of(whole.dimensions, part.dimensions, module.devices)};
    }
    return std::nullopt;
}

Arrays map_custom_call(GraphMaker& maker, const Operation& operation) {
    const CustomTarget target = operation.attributes<CustomCall>().target;
    const Module& module = maker.module();
    Arrays arrays;
    for (const Arrays& operand : operation.operands)
        arrays.insert(arrays.end(), operand.begin(), operand.end());
    if (target == CustomTarget::Sharding) return arrays;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        Array& array = arrays[i];
        const Shape& result = part_shape(module, operation.instruction.shape, i);
        if (makes_parts(target)) {
            if (!array.is_global && array.dimensions != result.dimensions)
                throw ModelError("it makes parts of what the program computed, which is not compiled");
            array.is_global = false;
            array.split_axis.reset();
        } else {
            array.is_global = true;
            array.split_axis = split_axis_of(result.dimensions, array.dimensions, module.devices);
        }
    }
    return arrays;
}

/// Of the only device, the number is 0.
Arrays map_device_number(GraphMaker& maker, const Operation& /*operation*/) {
    if (maker.module().devices > 1)
        throw ModelError("it asks for the number of the device; programs of several devices may not");
    return {maker.constant(ElementType::U32, {}, 0)};
}

}  // namespace systole::hlo
