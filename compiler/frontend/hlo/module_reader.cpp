// Reads and verifies a whole module, in the order of its file.
#include <fmt/format.h>
#include <google/protobuf/arena.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/input_file.h"
#include "base/message_text.h"
#include "compiler/frontend/hlo.h"
#include "compiler/frontend/hlo/attributes.h"
#include "compiler/frontend/hlo/checked_instruction.h"
#include "compiler/frontend/hlo/devices.h"
#include "compiler/frontend/hlo/gzip.h"
#include "compiler/frontend/hlo/scopes.h"
#include "compiler/frontend/protobuf.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

using ModuleProto = hlo_proto::HloModuleProto;
using ComputationProto = hlo_proto::HloComputationProto;
using InstructionProto = hlo_proto::HloInstructionProto;

/// Places by the numbers that a file gives them.
template <typename Place>
class IdTable {
public:
    struct Entry {
        std::int64_t id = 0;
        Place place{};
    };

    explicit IdTable(std::vector<Entry> entries) : entries_(std::move(entries)) {
        std::ranges::sort(entries_, {}, &Entry::id);
    }
    /// An id that two places have.
    std::optional<std::int64_t> repeated() const {
        const auto found = std::ranges::adjacent_find(entries_, {}, &Entry::id);
        return found == entries_.end() ? std::nullopt : std::optional(found->id);
    }
    const Place* find(std::int64_t id) const {
        const auto found = std::ranges::lower_bound(entries_, id, {}, &Entry::id);
        return found == entries_.end() || found->id != id ? nullptr : &found->place;
    }

private:
    std::vector<Entry> entries_;
};

/// An instruction in a module.
struct InstructionPlace {
    ComputationId computation = 0;
    InstructionId instruction = 0;
};

template <typename Action>
decltype(auto) at_place(const std::string& place, const Action& action) {
    try {
        return action();
    } catch (const ModelError& error) {
        throw ModelError(fmt::format("{}: {}", place, error.what()));
    }
}

std::string computation_place(const ComputationProto& computation) {
    return fmt::format("computation {}", in_quotes(computation.name()));
}

IdTable<ComputationId> computation_table(const ModuleProto& module) {
    std::vector<IdTable<ComputationId>::Entry> entries;
    for (const ComputationProto& computation : module.computations()) {
        if (computation.id() < 0 || computation.id() > std::numeric_limits<std::int32_t>::max()) {
            throw ModelError(fmt::format("{}: its id is {}; it must be from 0 to {}",
                                         computation_place(computation), computation.id(),
                                         std::numeric_limits<std::int32_t>::max()));
        }
        entries.push_back({computation.id(), static_cast<ComputationId>(entries.size())});
    }
    IdTable<ComputationId> table(std::move(entries));
    if (const auto id = table.repeated()) {
        throw ModelError(fmt::format("two computations have the id {}; each must have one of its own", *id));
    }
    return table;
}

/// The instructions by their ids. An id is computation x 2^32 + index, or, in older files, any number below
/// 2^32 that no other instruction of the module has.
IdTable<InstructionPlace> instruction_table(const ModuleProto& module) {
    constexpr unsigned index_bits = 32;
    std::vector<IdTable<InstructionPlace>::Entry> entries;
    std::optional<bool> has_parts;
    for (int i = 0; i < module.computations_size(); ++i) {
        const ComputationProto& computation = module.computations(i);
        for (int k = 0; k < computation.instructions_size(); ++k) {
            const std::int64_t id = computation.instructions(k).id();
            const auto fail = [&](const std::string& rule) {
                throw ModelError(fmt::format("{}: instruction {}: its id is {}; {}",
                                             computation_place(computation),
                                             in_quotes(computation.instructions(k).name()), id, rule));
            };
            if (id < 0) fail("ids must not be negative");
            // Those of a computation with id 0 look the same in both forms.
            if (computation.id() != 0) {
                const bool is_of_parts = (id >> index_bits) != 0;
                if (is_of_parts != has_parts.value_or(is_of_parts)) {
                    fail("ids must name the computation in their upper 32 bits everywhere, or nowhere");
                }
                has_parts = is_of_parts;
            }
            if ((id >> index_bits) != (has_parts.value_or(false) ? computation.id() : 0)) {
                fail(fmt::format("its upper 32 bits must be the computation's id, {}", computation.id()));
            }
            entries.push_back({id, {static_cast<ComputationId>(i), static_cast<InstructionId>(k)}});
        }
    }
    IdTable<InstructionPlace> table(std::move(entries));
    if (const auto id = table.repeated()) {
        throw ModelError(fmt::format("two instructions have the id {}; each must have one of its own", *id));
    }
    return table;
}

class ModuleReader {
public:
    explicit ModuleReader(const ModuleProto& proto)
        : proto_(proto),
          computation_ids_(computation_table(proto)),
          instruction_ids_(instruction_table(proto)) {}

    Module read() {
        check_unknown_fields(proto_);
        module_.name = proto_.name();
        find_entry();
        // Operands and called computations are there before their readers: instructions need no room that
        // moves.
        module_.computations.reserve(static_cast<std::size_t>(proto_.computations_size()));
        for (const ComputationProto& computation : proto_.computations()) {
            at_place(computation_place(computation), [&] { read_computation(computation); });
        }
        if (proto_.has_host_program_shape()) {
            check_program_shape(proto_.host_program_shape(), module_.entry_computation());
        }
        read_arguments();
        read_aliases();
        module_.frontend = read_frontend_attributes(proto_.frontend_attributes());
        if (const auto text = find_attribute(module_.frontend, "xla.sdy.meshes")) {
            module_.meshes = at_place("xla.sdy.meshes", [&] { return read_meshes(*text); });
            for (const Mesh& mesh : module_.meshes) devices_.add(mesh);
        }
        read_shardings();
        module_.devices = devices_.count();
        module_.scopes = scopes_.take();
        return std::move(module_);
    }

private:
    void find_entry() {
        const ComputationId* const entry = computation_ids_.find(proto_.entry_computation_id());
        if (entry == nullptr) {
            throw ModelError(
                fmt::format("its entry_computation_id is {}; it must be that of one of its computations",
                            proto_.entry_computation_id()));
        }
        module_.entry = *entry;
    }

    void read_computation(const ComputationProto& proto) {
        check_unknown_fields(proto);
        if (proto.instructions_size() == 0)
            throw ModelError("it has no instruction; it must have at least one");
        Computation& computation = module_.computations.emplace_back();
        computation.name = proto.name();
        computation.instructions.reserve(static_cast<std::size_t>(proto.instructions_size()));
        for (const InstructionProto& instruction : proto.instructions()) {
            try {
                read_instruction(instruction, computation);
            } catch (const ModelError& error) {
                throw ModelError(fmt::format("instruction {} ({}): {}", in_quotes(instruction.name()),
                                             in_quotes(instruction.opcode()), error.what()));
            }
        }
        set_parameters(computation);
        set_root(proto, computation);
        if (proto.has_program_shape()) check_program_shape(proto.program_shape(), computation);
    }

    void read_instruction(const InstructionProto& proto, Computation& computation) {
        // What is refused whole is refused by its name, not by a field that goes with it.
        const Opcode opcode = opcode_of(proto);
        if (opcode == Opcode::CustomCall) check_custom_target(proto);
        check_unknown_fields(proto);
        check_fields_of_opcode(proto, opcode);
        Instruction instruction{
            .name = proto.name(), .opcode = opcode, .shape = module_.shapes.add(proto.shape())};
        read_operands(proto, computation, instruction);
        read_called(proto, instruction);
        instruction.attributes = read_attributes(proto, opcode, instruction.shape, module_.shapes);
        count_devices(instruction);
        instruction.scope =
            scopes_.add(opcode == Opcode::Parameter ? std::string() : proto.metadata().op_name());
        if (proto.has_sharding()) {
            instruction.sharding = std::make_unique<const Sharding>(
                read_sharding(proto.sharding(), instruction.shape, module_.shapes, devices_));
        }
        instruction.frontend = read_frontend_attributes(proto.frontend_attributes());
        check_instruction(CheckedInstruction(module_, computation, instruction));
        computation.instructions.push_back(std::move(instruction));
    }

    static Opcode opcode_of(const InstructionProto& proto) {
        if (const auto opcode = find_opcode(proto.opcode())) return *opcode;
        if (const auto reason = refusal_of(proto.opcode())) throw ModelError(std::string(*reason));
        throw ModelError("there is no such opcode; it must be one of HLO's");
    }

    void read_operands(const InstructionProto& proto, const Computation& computation,
                       Instruction& instruction) {
        const OpcodeTraits& traits = traits_of(instruction.opcode);
        check_count(static_cast<std::size_t>(proto.operand_ids_size()), "operand", traits.least_operands,
                    traits.most_operands);
        const auto own = static_cast<ComputationId>(module_.computations.size() - 1);
        instruction.operands.reserve(static_cast<std::size_t>(proto.operand_ids_size()));
        for (const std::int64_t id : proto.operand_ids()) {
            const InstructionPlace* const place = instruction_ids_.find(id);
            if (place == nullptr || place->computation != own) {
                throw ModelError(
                    fmt::format("its operand is {}; it must be an instruction of its computation", id));
            }
            if (place->instruction >= computation.instructions.size()) {
                throw ModelError(
                    fmt::format("its operand {} does not come before it; operands must, so that none "
                                "depends on itself",
                                id));
            }
            instruction.operands.push_back(place->instruction);
        }
    }

    void read_called(const InstructionProto& proto, Instruction& instruction) {
        const OpcodeTraits& traits = traits_of(instruction.opcode);
        check_count(static_cast<std::size_t>(proto.called_computation_ids_size()), "called computation",
                    traits.least_called, traits.most_called);
        const std::size_t own = module_.computations.size() - 1;
        for (const std::int64_t id : proto.called_computation_ids()) {
            const ComputationId* const called = computation_ids_.find(id);
            if (called == nullptr)
                throw ModelError(fmt::format("it calls computation {}; it must be one of the module's", id));
            if (*called >= own) {
                throw ModelError(
                    fmt::format("it calls computation {}, which does not come before its own; called "
                                "ones must, so that none calls itself",
                                id));
            }
            instruction.called.push_back(*called);
        }
    }

    static void check_count(std::size_t count, std::string_view noun, std::size_t least, std::size_t most) {
        if (count >= least && count <= most) return;
        const std::string rule = least == most        ? fmt::format("{}", least)
                                 : most == any_number ? fmt::format("at least {}", least)
                                                      : fmt::format("from {} to {}", least, most);
        throw ModelError(fmt::format("it has {}; it must have {}", counted(count, noun), rule));
    }

    void count_devices(const Instruction& instruction) {
        if (!instruction.attributes) return;
        if (const auto* const collective = std::get_if<Collective>(instruction.attributes.get())) {
            for (const auto& group : collective->groups) devices_.add(group);
        }
        if (const auto* const permutation = std::get_if<Permutation>(instruction.attributes.get())) {
            for (const auto& [source, target] : permutation->pairs) devices_.add(std::array{source, target});
        }
    }

    static void set_parameters(Computation& computation) {
        constexpr auto none = std::numeric_limits<InstructionId>::max();
        std::size_t count = 0;
        for (const Instruction& instruction : computation.instructions) {
            count += instruction.opcode == Opcode::Parameter ? 1 : 0;
        }
        computation.parameters.assign(count, none);
        for (std::size_t id = 0; id < computation.instructions.size(); ++id) {
            const Instruction& instruction = computation.instructions[id];
            if (instruction.opcode != Opcode::Parameter) continue;
            const std::uint32_t number = attributes_of<Parameter>(instruction).number;
            if (number >= count || computation.parameters[number] != none) {
                throw ModelError(fmt::format(
                    "instruction {}: its parameter_number is {}; {} must have each number from 0 on once",
                    in_quotes(instruction.name), number, counted(count, "parameter")));
            }
            computation.parameters[number] = static_cast<InstructionId>(id);
        }
    }

    void set_root(const ComputationProto& proto, Computation& computation) {
        const InstructionPlace* const root = instruction_ids_.find(proto.root_id());
        if (root == nullptr || root->computation != module_.computations.size() - 1) {
            throw ModelError(
                fmt::format("its root_id is {}; it must be one of its instructions", proto.root_id()));
        }
        computation.root = root->instruction;
    }

    /// Fails unless parameters and result are what the file says elsewhere, too.
    void check_program_shape(const hlo_proto::ProgramShapeProto& proto, const Computation& computation) {
        at_place("its program shape", [&] {
            const auto count = static_cast<std::size_t>(proto.parameters_size());
            if (count != computation.parameters.size()) {
                throw ModelError(fmt::format("it has {}; it must have {}, as the computation",
                                             counted(count, "parameter"), computation.parameters.size()));
            }
            for (std::size_t i = 0; i < count; ++i) {
                check_same(fmt::format("parameter {}", i),
                           module_.shapes.add(proto.parameters(static_cast<int>(i))),
                           computation.instructions[computation.parameters[i]].shape);
            }
            check_same("its result", module_.shapes.add(proto.result()),
                       computation.instructions[computation.root].shape);
        });
    }

    void check_same(const std::string& what, ShapeId stated, ShapeId found) const {
        if (stated == found) return;
        throw ModelError(fmt::format("{} is {}; it must be {}, as in the computation", what,
                                     module_.shapes.text_of(stated), module_.shapes.text_of(found)));
    }

    /// JAX calls the entry's parameters what the program calls its arguments.
    void read_arguments() {
        const auto& proto = proto_.computations(static_cast<int>(module_.entry));
        for (const InstructionId parameter : module_.entry_computation().parameters) {
            module_.arguments.push_back(proto.instructions(static_cast<int>(parameter)).metadata().op_name());
        }
    }

    /// The shape at the end of a path into tuples.
    ShapeId shape_at(ShapeId shape, std::span<const std::uint32_t> path) const {
        for (const std::uint32_t index : path) {
            const Shape& tuple = module_.shapes[shape];
            if (!tuple.is_tuple || index >= tuple.parts.size()) {
                throw ModelError(fmt::format("it takes part {} of {}; it must be a part of a tuple", index,
                                             module_.shapes.text_of(shape)));
            }
            shape = tuple.parts[index];
        }
        return shape;
    }

    static std::vector<std::uint32_t> path_of(const google::protobuf::RepeatedField<std::int64_t>& numbers) {
        std::vector<std::uint32_t> path;
        for (const std::int64_t number : numbers) {
            if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) {
                throw ModelError(fmt::format("it takes part {} of a tuple; parts are from 0 on", number));
            }
            path.push_back(static_cast<std::uint32_t>(number));
        }
        return path;
    }

    void read_aliases() {
        const Computation& entry = module_.entry_computation();
        std::set<std::vector<std::uint32_t>> outputs;
        std::set<std::pair<std::uint32_t, std::vector<std::uint32_t>>> inputs;
        for (int i = 0; i < proto_.input_output_alias().entries_size(); ++i) {
            const auto& proto = proto_.input_output_alias().entries(i);
            at_place(fmt::format("input_output_alias {}", i), [&] {
                const std::int64_t number = proto.parameter_number();
                if (number < 0 || static_cast<std::uint64_t>(number) >= entry.parameters.size()) {
                    throw ModelError(
                        fmt::format("its parameter_number is {}; it must be below the entry's {}", number,
                                    counted(entry.parameters.size(), "parameter")));
                }
                constexpr std::int32_t may_alias = 1;
                constexpr std::int32_t must_alias = 2;
                if (proto.kind() != may_alias && proto.kind() != must_alias) {
                    throw ModelError(fmt::format("its kind is {}; it must be 1 or 2", proto.kind()));
                }
                Alias alias{path_of(proto.output_shape_index()), static_cast<std::uint32_t>(number),
                            path_of(proto.parameter_shape_index())};
                const ShapeId output = shape_at(entry.instructions[entry.root].shape, alias.output);
                const ShapeId input =
                    shape_at(entry.instructions[entry.parameters[alias.parameter]].shape, alias.input);
                if (output != input) {
                    throw ModelError(fmt::format("its output is {}, its input {}; they must be the same",
                                                 module_.shapes.text_of(output),
                                                 module_.shapes.text_of(input)));
                }
                if (!outputs.insert(alias.output).second ||
                    !inputs.insert({alias.parameter, alias.input}).second) {
                    throw ModelError(
                        fmt::format("output {{{}}} or input {{{}}} of parameter {} is that of another one, "
                                    "too; each may be named once",
                                    listed(alias.output), listed(alias.input), alias.parameter));
                }
                module_.aliases.push_back(std::move(alias));
            });
        }
    }

    /// How the entry's parameters and its result lie on devices.
    void read_shardings() {
        const Computation& entry = module_.entry_computation();
        if (proto_.has_spmd_output_sharding()) {
            at_place("spmd_output_sharding", [&] {
                module_.output_sharding =
                    read_sharding(proto_.spmd_output_sharding(), entry.instructions[entry.root].shape,
                                  module_.shapes, devices_);
            });
        }
        const auto count = static_cast<std::size_t>(proto_.spmd_parameters_shardings_size());
        if (count != 0 && count != entry.parameters.size()) {
            throw ModelError(
                fmt::format("spmd_parameters_shardings are {} for {}; there must be none, or one for each",
                            count, counted(entry.parameters.size(), "parameter")));
        }
        for (std::size_t i = 0; i < count; ++i) {
            at_place(fmt::format("spmd_parameters_shardings {}", i), [&] {
                module_.parameter_shardings.push_back(
                    read_sharding(proto_.spmd_parameters_shardings(static_cast<int>(i)),
                                  entry.instructions[entry.parameters[i]].shape, module_.shapes, devices_));
            });
        }
    }

    const ModuleProto& proto_;
    IdTable<ComputationId> computation_ids_;
    IdTable<InstructionPlace> instruction_ids_;
    Module module_;
    ScopeTable scopes_;
    NamedDevices devices_;
};

}  // namespace

Module parse_module(std::string_view bytes) {
    frontend::silence_protobuf();
    google::protobuf::Arena arena;
    auto& proto = *google::protobuf::Arena::CreateMessage<ModuleProto>(&arena);
    std::string inflated;
    if (bytes.size() <= frontend::most_message_bytes && is_gzip(bytes)) {
        inflated = gunzip(bytes, frontend::most_message_bytes);
        bytes = inflated;
    }
    if (bytes.size() > frontend::most_message_bytes ||
        !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        throw ModelError("it is damaged: it is no serialized HloModuleProto");
    }
    return ModuleReader(proto).read();
}

Module read_module(const std::filesystem::path& path) {
    const std::string bytes = read_input_file<ModelError>(path, frontend::most_message_bytes);
    return at_place(path.string(), [&] { return parse_module(bytes); });
}

}  // namespace systole::hlo
