// Work of several devices together.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/message_text.h"
#include "compiler/frontend/hlo/devices.h"
#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {

Arrays map_all_reduce(GraphMaker& maker, const Operation& operation) {
    const Module& module = maker.module();
    const auto& collective = operation.attributes<Collective>();
    const Computation& computation = module.computations.at(operation.instruction.called.front());
    // Without a channel, groups number replicas, and with global numbers all devices: here these are the
    // same.
    if ((collective.channel != 0) != collective.has_global_devices) {
        throw ModelError(
            fmt::format("its channel_id is {}, its use_global_device_ids {}, so that groups are not of the "
                        "devices that they name, which is not compiled",
                        collective.channel, collective.has_global_devices));
    }
    const std::size_t group = collective.groups.empty() ? module.devices : collective.groups.front().size();
    Arrays arrays = operation.all_arrays();
    if (group == 1) return arrays;
    if (group != module.devices) {
        throw ModelError(
            fmt::format("it combines groups of {} of {} devices; programs are compiled that combine all",
                        group, module.devices));
    }
    const auto is_of_floats = [](const Array& array) { return is_float(array.type); };
    if (only_operation(computation) != Opcode::Add || !std::ranges::all_of(arrays, is_of_floats)) {
        throw ModelError("it combines by another operation than the sum of floats, which alone is compiled");
    }
    std::vector<ir::ValueId> inputs;
    std::vector<DataType> types;
    for (const Array& array : arrays) {
        const ir::ValueId id = maker.value_of(converted(maker, array, ElementType::F32));
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
std::optional<std::uint32_t> split_axis_of(ElementType type, const Numbers& whole, const Numbers& part,
                                           std::uint32_t devices) {
    std::optional<std::uint32_t> axis;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        if (whole[i] == part[i]) continue;
        if (axis || whole[i] != part[i] * devices) {
            throw ModelError(
                fmt::format("an array of {} has parts of {} on {} devices; programs are compiled "
                            "whose arrays are split along one axis, over all devices",
                            array_text(type, whole), array_text(type, part), devices));
        }
        axis = static_cast<std::uint32_t>(i);
    }
    return axis;
}

bool makes_parts(CustomTarget target) {
    return target == CustomTarget::GlobalToLocalShape || target == CustomTarget::FullToShardShape;
}

/// The array number `i` of a value.
ShapeId part_id(const Module& module, ShapeId id, std::size_t i) {
    const Shape& shape = module.shapes[id];
    return shape.is_tuple ? shape.parts.at(i) : id;
}

using Parts = std::map<InstructionId, ShapeId>;

/// The parts that a computation makes of values; `called` has those of the computations before it.
Parts parts_of_values(const Module& module, const Computation& computation, std::span<const Parts> called) {
    Parts parts;
    // From the last instruction to the first: of several that make parts, the first one counts.
    for (std::size_t i = computation.instructions.size(); i-- > 0;) {
        const Instruction& instruction = computation.instructions[i];
        if (instruction.opcode == Opcode::Call) {
            const ComputationId callee = instruction.called.front();
            const std::vector<InstructionId>& parameters = module.computations[callee].parameters;
            for (std::size_t k = parameters.size(); k-- > 0;) {
                const auto part = called[callee].find(parameters[k]);
                if (part != called[callee].end())
                    parts.insert_or_assign(instruction.operands[k], part->second);
            }
        }
        if (instruction.opcode != Opcode::CustomCall) continue;
        const CustomTarget target = attributes_of<CustomCall>(instruction).target;
        if (target == CustomTarget::Sharding) {
            // It only says where the array is; who reads it makes the parts.
            const auto part = parts.find(static_cast<InstructionId>(i));
            if (part != parts.end()) parts.insert_or_assign(instruction.operands.front(), part->second);
        }
        if (!makes_parts(target)) continue;
        for (std::size_t k = instruction.operands.size(); k-- > 0;)
            parts.insert_or_assign(instruction.operands[k], part_id(module, instruction.shape, k));
    }
    return parts;
}

}  // namespace

std::map<InstructionId, ShapeId> parts_of_inputs(const Module& module) {
    // JAX calls a function that is compiled by itself: its parameters are inputs of the program, too.
    std::vector<Parts> parts;
    for (ComputationId i = 0; i <= module.entry; ++i)
        parts.push_back(parts_of_values(module, module.computations[i], parts));
    return parts.back();
}

namespace {

/// Throws ModelError unless the sharding of an array on several devices says that device i has part i.
void check_order(const Module& module, const Shape& whole, const Shape& part, const Sharding* sharding) {
    const std::uint32_t devices = module.devices;
    const auto axis = split_axis_of(whole.type, whole.dimensions, part.dimensions, devices);
    const bool is_same = sharding == nullptr || sharding->kind == Sharding::Kind::Replicated;
    if (is_same && !axis) return;
    Numbers tiles(whole.rank(), 1);
    if (axis) tiles[*axis] = devices;
    const bool has_tiles = !is_same && sharding->kind == Sharding::Kind::Tiled;
    const Numbers stated =
        has_tiles ? Numbers(sharding->tiles.begin(),
                            sharding->tiles.end() - static_cast<std::ptrdiff_t>(sharding->last_tiles.size()))
                  : Numbers();
    if (!has_tiles || stated != tiles) {
        throw ModelError(fmt::format(
            "an array of {} has parts of {}, and its sharding {}; it must be of tiles [{}]",
            array_text(whole.type, whole.dimensions), array_text(part.type, part.dimensions),
            has_tiles ? fmt::format("is of tiles [{}]", listed(stated)) : "has none", listed(tiles)));
    }
    if (!axis) return;
    for (std::uint32_t i = 0; i < devices; ++i) {
        if (sharding->devices[i] == i) continue;
        throw ModelError(fmt::format(
            "part {} of an array of {} is on device {}; programs are compiled in which device i has part i",
            i, array_text(whole.type, whole.dimensions), sharding->devices[i]));
    }
}

/// How the whole array of a custom call lies on devices; null if that is not stated.
const Sharding* stated_sharding(const Computation& computation, const Instruction& instruction) {
    switch (attributes_of<CustomCall>(instruction).target) {
        case CustomTarget::FullToShardShape:
            return computation.instructions[instruction.operands.front()].sharding.get();
        case CustomTarget::ShardToFullShape:
            return instruction.sharding.get();
        case CustomTarget::GlobalToLocalShape:
        case CustomTarget::LocalToGlobalShape:
        case CustomTarget::Sharding:
            return nullptr;
    }
    throw std::logic_error("a custom call that does not exist");
}

}  // namespace

void check_orders_of_parts(const Module& module) {
    NamedDevices named;
    for (const Computation& computation : module.computations) {
        for (const Instruction& instruction : computation.instructions) {
            if (instruction.opcode != Opcode::CustomCall) continue;
            const CustomTarget target = attributes_of<CustomCall>(instruction).target;
            if (target == CustomTarget::Sharding) continue;
            try {
                const bool splits = makes_parts(target);
                const auto text = find_attribute(instruction.frontend,
                                                 splits ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings");
                std::vector<Sharding> of_text;
                if (text) of_text = read_shardy_shardings(*text, module.meshes, named);
                if (text && of_text.size() != instruction.operands.size()) {
                    throw ModelError(fmt::format("it has {} for {}; each must have one",
                                                 counted(of_text.size(), "sharding"),
                                                 counted(instruction.operands.size(), "array")));
                }
                for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
                    const Shape& operand = module.shape_of(computation.instructions[instruction.operands[i]]);
                    const Shape& result = module.shapes[part_id(module, instruction.shape, i)];
                    check_order(module, splits ? operand : result, splits ? result : operand,
                                text ? &of_text[i] : stated_sharding(computation, instruction));
                }
            } catch (const ModelError& error) {
                throw ModelError(fmt::format("computation {}: instruction {} ({}): {}",
                                             in_quotes(computation.name), in_quotes(instruction.name),
                                             traits_of(instruction.opcode).name, error.what()));
            }
        }
    }
}

Array global_array(const Module& module, const Shape& whole, const Shape& part) {
    return {.id = 0,
            .type = part.type,
            .dimensions = part.dimensions,
            .is_global = true,
            .split_axis = split_axis_of(part.type, whole.dimensions, part.dimensions, module.devices)};
}

Arrays map_custom_call(GraphMaker& maker, const Operation& operation) {
    const CustomTarget target = operation.attributes<CustomCall>().target;
    const Module& module = maker.module();
    Arrays arrays = operation.all_arrays();
    if (target == CustomTarget::Sharding) return arrays;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        Array& array = arrays[i];
        const Shape& result = module.shapes[part_id(module, operation.instruction.shape, i)];
        if (makes_parts(target)) {
            if (!array.is_global && array.dimensions != result.dimensions)
                throw ModelError("it makes parts of what the program computed, which is not compiled");
            if (array.dimensions != result.dimensions) {
                throw ModelError(fmt::format(
                    "it makes parts of {} of an array of which parts of {} are there; each array has one "
                    "kind of parts",
                    array_text(array.type, result.dimensions), array_text(array.type, array.dimensions)));
            }
            array.is_global = false;
            array.split_axis.reset();
        } else {
            if (array.is_global)
                throw ModelError("it joins parts of an array that all devices have together already");
            array.is_global = true;
            array.split_axis = split_axis_of(array.type, result.dimensions, array.dimensions, module.devices);
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
