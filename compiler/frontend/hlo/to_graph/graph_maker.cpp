#include "compiler/frontend/hlo/to_graph/graph_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "base/message_text.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"

namespace systole::hlo {
namespace {

/// Calls within calls, and instructions with those of all calls: a program may double them at each level.
constexpr std::size_t most_nested_calls = 256;
constexpr std::uint64_t most_mapped_instructions = std::uint64_t{1} << 20;

/// Limits of the graph, since a small module may ask for much: its values, and the elements of all constants
/// that are made.
constexpr std::size_t most_values = std::size_t{1} << 20;
constexpr std::uint64_t most_constant_elements = std::uint64_t{1} << 28;

/// Operations on constants that are computed now: of one node, of all nodes together, and of nodes that are
/// always computed, as conditions of loops need them. The machine computes the others.
constexpr std::uint64_t most_folded = std::uint64_t{1} << 22;
constexpr std::uint64_t most_folded_together = std::uint64_t{1} << 28;
constexpr std::uint64_t always_folded = 256;

/// A fault with the place of its instruction.
class PlacedError : public ModelError {
public:
    using ModelError::ModelError;
};

std::vector<bool> needed_for_root(const Computation& computation) {
    std::vector<bool> needed(computation.instructions.size(), false);
    needed[computation.root] = true;
    for (std::size_t i = needed.size(); i-- > 0;) {
        if (!needed[i]) continue;
        for (const InstructionId operand : computation.instructions[i].operands) needed[operand] = true;
    }
    return needed;
}

/// Whether a path is another one or in it.
bool is_within(std::string_view path, std::string_view other) {
    return path.starts_with(other) && (path.size() == other.size() || path[other.size()] == '/');
}

std::string joined_paths(const std::string& path, const std::string& rest) {
    return path.empty() || rest.empty() ? path + rest : path + "/" + rest;
}

/// Whether devices have other parts of an array.
bool has_parts(const Sharding& sharding) {
    const auto of_array = std::span(sharding.tiles).first(sharding.tiles.size() - sharding.last_tiles.size());
    return std::ranges::any_of(of_array, [](std::int64_t count) { return count > 1; });
}

}  // namespace

DataType graph_type(ElementType type) {
    switch (type) {
        case ElementType::F32:
        case ElementType::F16:
            return DataType::Float32;
        case ElementType::Bf16:
            return DataType::Bfloat16;
        case ElementType::Pred:
        case ElementType::S8:
        case ElementType::S16:
        case ElementType::S32:
        case ElementType::S64:
        case ElementType::U8:
        case ElementType::U16:
        case ElementType::U32:
        case ElementType::U64:
            return DataType::Int32;
    }
    throw std::logic_error("an element type that does not exist");
}

DataType file_type(ElementType type) {
    switch (type) {
        case ElementType::F32:
            return DataType::Float32;
        case ElementType::F16:
            return DataType::Float16;
        case ElementType::Bf16:
            return DataType::Bfloat16;
        case ElementType::Pred:
            return DataType::Bool;
        case ElementType::S8:
            return DataType::Int8;
        case ElementType::S16:
            return DataType::Int16;
        case ElementType::S32:
            return DataType::Int32;
        case ElementType::U8:
            return DataType::Uint8;
        case ElementType::U16:
            return DataType::Uint16;
        case ElementType::U32:
            return DataType::Uint32;
        case ElementType::S64:
        case ElementType::U64:
            break;
    }
    throw ModelError(fmt::format("its type is {}; inputs and outputs of a program have at most 32 bits",
                                 traits_of(type).name));
}

ir::Shape graph_shape(std::span<const std::int64_t> dimensions) {
    if (dimensions.size() + 1 > ir::Shape::most_extents) {
        throw ModelError(fmt::format("an array has {} dimensions; programs are compiled with at most {}",
                                     dimensions.size(), ir::Shape::most_extents - 1));
    }
    std::vector<std::uint32_t> extents{1};
    constexpr auto most = static_cast<std::int64_t>(ir::maximum_elements);
    std::int64_t elements = 1;
    for (const std::int64_t extent : dimensions) {
        if (extent == 0)
            throw ModelError("an array has a dimension of size 0; programs are compiled without such arrays");
        if (extent < 0 || extent > most / elements) {
            throw ModelError(
                fmt::format("an array on its way is {}; programs are compiled with at most {} elements",
                            listed(dimensions), most));
        }
        elements *= extent;
        extents.push_back(static_cast<std::uint32_t>(extent));
    }
    return ir::Shape(extents);
}

GraphMaker::GraphMaker(const Module& module, const ir::OperatorSet& operators)
    : module_(module), operators_(operators) {
    graph_.name = module.name;
    graph_.replicas = module.devices;
}

ir::Graph GraphMaker::make() && {
    check_orders_of_parts(module_);
    set_outputs(*evaluate(module_.entry, make_inputs()));
    if (graph_.inputs.empty()) throw ModelError("it has no input; a program must have one");
    graph_.detours = count_detours(graph_, notes_);
    ir::remove_unread(graph_);
    if (const auto fault = ir::find_fault(graph_)) throw ModelError(*fault);
    return std::move(graph_);
}

std::vector<SharedArrays> GraphMaker::make_inputs() {
    const Computation& entry = module_.entry_computation();
    const std::map<InstructionId, ShapeId> parts = parts_of_inputs(module_);
    const auto is_split = [&](std::size_t i) {
        const Sharding* const own = entry.instructions[entry.parameters[i]].sharding.get();
        const auto& of_module = module_.parameter_shardings;
        return (own != nullptr && has_parts(*own)) || (i < of_module.size() && has_parts(of_module[i]));
    };
    std::vector<SharedArrays> inputs;
    std::set<std::string> names;
    for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
        const Shape& shape = module_.shape_of(entry.instructions[entry.parameters[i]]);
        const std::string& argument = i < module_.arguments.size() ? module_.arguments[i] : std::string();
        const std::string name = argument.empty() ? fmt::format("input {}", i) : argument;
        try {
            if (!names.insert(name).second)
                throw ModelError("another input has its name; each must have one of its own");
            if (shape.is_tuple) throw ModelError("it is a tuple; inputs of a program must be arrays");
            Array array{.id = 0, .type = shape.type, .dimensions = shape.dimensions};
            if (const auto part = parts.find(entry.parameters[i]); part != parts.end()) {
                array = global_array(module_, shape, module_.shapes[part->second]);
            } else if (is_split(i)) {
                throw ModelError(
                    "it is split over devices; programs of several devices are compiled where shard_map says "
                    "what each device does");
            }
            const ir::ValueId id = graph_.add_input(name, graph_shape(array.dimensions), DataType::Float32);
            graph_.values[id].split_axis = array.split_axis;
            graph_.values[id].type = graph_type(shape.type);
            graph_.values[id].file_type = file_type(shape.type);
            array.id = id;
            inputs.push_back(std::make_shared<const Arrays>(Arrays{std::move(array)}));
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("input {}: {}", in_quotes(name), error.what()));
        }
    }
    return inputs;
}

void GraphMaker::set_outputs(const Arrays& results) {
    std::vector<std::size_t> places;  // of the results among the graph's outputs
    std::set<ir::ValueId> taken(graph_.inputs.begin(), graph_.inputs.end());
    std::set<std::size_t> constants;
    for (std::size_t i = 0; i < results.size(); ++i) {
        layer_ = fmt::format("output {}", i);
        try {
            Array array = results[i];
            const DataType type = graph_type(array.type);
            const DataType in_files = file_type(array.type);
            ir::ValueId id = value_of(array);
            places.push_back(graph_.outputs.size());
            if (graph_.values[id].constant) {
                if (array.split_axis)
                    throw ModelError(
                        "it is a constant, of which each device has a part, which is not compiled");
                ir::Value value = graph_.values[id];
                value.name = layer_;
                // It has no axis of replicas: files have its own dimensions.
                value.shape = ir::Shape(value.shape.extents().subspan(1));
                constants.insert(i);
                value.file_type = in_files;
                graph_.constant_outputs.push_back({i, std::move(value)});
                continue;
            }
            // An output is a value of its own, of its type, and of its number format in files.
            const bool is_taken = taken.contains(id);
            const DataType taken_as = graph_.values[id].file_type.value_or(graph_.values[id].type);
            if (is_taken && taken_as != in_files) {
                id = chain(array.type, array.dimensions, {Array{id, array.type, array.dimensions, {}}},
                           [](std::span<const ir::Word> in) { return same_bits(in[0]); })
                         .id;
            } else if (is_taken) {
                id = append("identity", {}, {id}, type);
            }
            taken.insert(id);
            graph_.values[id].name = layer_;
            graph_.values[id].file_type = in_files;
            graph_.values[id].split_axis = array.split_axis;
            graph_.outputs.push_back(id);
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("{}: {}", layer_, error.what()));
        }
    }
    if (graph_.outputs.empty())
        throw ModelError("all of its outputs are constants; a program must compute one of them");
    const Computation& entry = module_.entry_computation();
    const ShapeId result = entry.instructions[entry.root].shape;
    for (const Alias& alias : module_.aliases) {
        const bool is_array = alias.input.empty() && alias.output.size() <= 1;
        if (!is_array) throw ModelError("an output in a tuple of tuples replaces an input; only arrays do");
        const std::size_t output = alias.output.empty() ? 0 : part_places(result)[alias.output.front()];
        if (constants.contains(output)) {
            throw ModelError(fmt::format(
                "output {} takes the place of an input and is a constant, which is not compiled", output));
        }
        const auto place = static_cast<std::uint32_t>(places[output]);
        graph_.state.push_back({alias.parameter, place});
    }
}

void GraphMaker::enter(const Instruction& instruction) {
    const Scope& scope = module_.scopes.at(instruction.scope);
    scope_ = {.stated = scope.path,
              .path = joined_paths(call_.path, scope.path),
              .is_backward = scope.is_backward || call_.is_backward};
    // Names in calls are relative to the call; in loops and branches they are whole.
    if (!call_.stated.empty() && is_within(scope.path, call_.stated))
        scope_.path = call_.path + scope.path.substr(call_.stated.size());
    if (scope_.path.empty()) {
        layer_ = instruction.name;
    } else {
        layer_ = scope_.is_backward ? scope_.path + " (gradient)" : scope_.path;
    }
}

void GraphMaker::count_instructions(std::size_t count) {
    mapped_ += count;
    if (mapped_ <= most_mapped_instructions) return;
    throw ModelError(
        fmt::format("it has more than {} instructions with those of all calls and turns of "
                    "loops; programs are compiled with fewer",
                    most_mapped_instructions));
}

SharedArrays GraphMaker::evaluate(ComputationId called, std::vector<SharedArrays> arguments,
                                  const Numbers* lifted) {
    // Large tuples take time, too.
    constexpr std::size_t arrays_of_an_instruction = 16;
    const Computation& computation = module_.computations.at(called);
    const PlacedScope before = call_;
    const PlacedScope own = scope_;
    const std::string layer = layer_;
    call_ = scope_;
    if (++calls_ > most_nested_calls) {
        throw ModelError(fmt::format(
            "its calls are nested more than {} deep; programs are compiled with fewer", most_nested_calls));
    }
    count_instructions(computation.instructions.size());
    for (const SharedArrays& argument : arguments)
        count_instructions(argument->size() / arrays_of_an_instruction);
    const std::vector<bool> needed = needed_for_root(computation);
    std::vector<SharedArrays> results(computation.instructions.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (!needed[i]) continue;
        const Instruction& instruction = computation.instructions[i];
        if (instruction.opcode == Opcode::Parameter) {
            results[i] = arguments.at(attributes_of<Parameter>(instruction).number);
            continue;
        }
        std::vector<SharedArrays> operands;
        operands.reserve(instruction.operands.size());
        for (const InstructionId operand : instruction.operands) operands.push_back(results[operand]);
        // What is done for each element belongs to the instruction that does it.
        if (lifted == nullptr) enter(instruction);
        results[i] = std::make_shared<const Arrays>(map({.computation = computation,
                                                         .instruction = instruction,
                                                         .operands = operands,
                                                         .lifted = lifted}));
        count_instructions(results[i]->size() / arrays_of_an_instruction);
    }
    call_ = before;
    scope_ = own;
    layer_ = layer;
    --calls_;
    if (lifted == nullptr) return results[computation.root];
    // Constants among the results are numbers of the whole arrays, too.
    Arrays whole = *results[computation.root];
    for (Array& array : whole) array.dimensions = *lifted;
    return std::make_shared<const Arrays>(std::move(whole));
}

const std::vector<std::size_t>& GraphMaker::part_places(ShapeId tuple) {
    const auto [found, is_new] = part_places_.try_emplace(tuple);
    if (is_new) {
        // How deep tuples are has been bounded.
        std::vector<std::size_t> places{0};
        for (const ShapeId part : module_.shapes[tuple].parts)
            places.push_back(places.back() + (module_.shapes[part].is_tuple ? part_places(part).back() : 1));
        found->second = std::move(places);
    }
    return found->second;
}

Arrays GraphMaker::map(const Operation& operation) {
    const Instruction& instruction = operation.instruction;
    try {
        return map_instruction(*this, operation);
    } catch (const PlacedError&) {
        throw;
    } catch (const ModelError& error) {
        throw PlacedError(fmt::format("computation {}: instruction {} ({}): {}",
                                      in_quotes(operation.computation.name), in_quotes(instruction.name),
                                      traits_of(instruction.opcode).name, error.what()));
    }
}

ir::ValueId GraphMaker::append(std::string_view op, std::vector<ir::NamedAttribute> attributes,
                               std::vector<ir::ValueId> inputs, DataType type) {
    const ir::ValueId id = graph_.append(layer_, operators_.at(op), std::move(attributes), std::move(inputs),
                                         DataType::Uint8, {{type, {}}});
    if (graph_.values.size() > most_values) {
        throw ModelError(fmt::format(
            "with it, the program has more than {} values; programs are compiled with fewer", most_values));
    }
    if (folds(graph_.nodes.back())) graph_.fold_last_node();
    return id;
}

bool GraphMaker::folds(const ir::Node& node) {
    const auto is_constant = [&](ir::ValueId id) { return graph_.values[id].constant.has_value(); };
    if (node.outputs.size() != 1 || !std::ranges::all_of(node.inputs, is_constant)) return false;
    // How the machine rounds products and orders sums is not known here.
    if (node.is("matrix_product") || node.is("word_convolution")) return false;
    if (node.is("word_reduce") && (node.text("reduction") == "sum" || node.text("reduction") == "product"))
        return false;
    const ir::NodeView view(graph_, node);
    std::uint64_t work = view.output().shape.elements();
    if (node.is("word_windows") || node.is("word_select_and_scatter"))
        work *= ir::window_of(node).kernel_elements();
    if (node.is("word_chain")) work *= std::get<std::vector<std::string>>(node.attributes.front()).size();
    for (const ir::ValueId id : node.inputs) work += graph_.values[id].shape.elements();
    if (work > most_folded || (work > always_folded && folded_ + work > most_folded_together)) return false;
    folded_ += work;
    return true;
}

std::vector<ir::ValueId> GraphMaker::append_all(std::string_view op,
                                                std::vector<ir::NamedAttribute> attributes,
                                                std::vector<ir::ValueId> inputs,
                                                std::vector<DataType> types) {
    std::vector<ir::ResultType> results;
    results.reserve(types.size());
    for (const DataType type : types) results.push_back({type, {}});
    graph_.append(layer_, operators_.at(op), std::move(attributes), std::move(inputs), DataType::Uint8,
                  std::move(results));
    return graph_.nodes.back().outputs;
}

void GraphMaker::count_constant(std::size_t elements) {
    constant_elements_ += elements;
    if (constant_elements_ <= most_constant_elements && graph_.values.size() <= most_values) return;
    throw ModelError(fmt::format(
        "with it, the program's constants have more than {} elements, or there are more than {} values; "
        "programs are compiled with fewer",
        most_constant_elements, most_values));
}

}  // namespace systole::hlo
