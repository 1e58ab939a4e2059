#include "compiler/frontend/hlo/to_graph/graph_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <stdexcept>

#include "base/message_text.h"
#include "base/settled_word.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/ir/word_step.h"

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

bool is_single(const ir::Shape& shape) {
    return shape.elements() == 1;
}

/// Whether devices have other parts of an array.
bool has_parts(const Sharding& sharding) {
    const auto of_array = std::span(sharding.tiles).first(sharding.tiles.size() - sharding.last_tiles.size());
    return std::ranges::any_of(of_array, [](std::int64_t count) { return count > 1; });
}

/// The word as a result of a step.
ir::Word same_bits(const ir::Word& x) {
    return ir::apply(WordOperation::Or, {x, x});
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

std::optional<Interval> united(const std::optional<Interval>& a, const std::optional<Interval>& b) {
    if (!a || !b) return std::nullopt;
    return Interval{std::min(a->low, b->low), std::max(a->high, b->high)};
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
    if (node.is("word_product") || node.is("word_convolution")) return false;
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

Array GraphMaker::constant(ElementType type, const Numbers& dimensions, std::vector<std::uint32_t> words) {
    const DataType format = graph_type(type);
    if (is_float(type)) {
        for (std::uint32_t& word : words) word = settled_word(word);
    }
    Array array{.id = 0, .type = type, .dimensions = dimensions};
    const auto contents = [&](const std::vector<std::uint32_t>& elements) {
        if (format != DataType::Bfloat16) return ir::Constant::of(elements);
        std::vector<std::uint16_t> halves;
        halves.reserve(elements.size());
        for (const std::uint32_t word : elements) halves.push_back(static_cast<std::uint16_t>(word >> 16U));
        return ir::Constant::of(std::move(halves));
    };
    const bool is_number =
        std::ranges::all_of(words, [&](std::uint32_t word) { return word == words.front(); });
    if (!is_number) {
        count_constant(words.size());
        array.id = graph_.add_constant(layer_, graph_shape(dimensions), format, contents(words));
        return array;
    }
    static_cast<void>(graph_shape(dimensions));  // it must be possible
    const auto [found, is_new] = numbers_.try_emplace({format, words.front()}, ir::ValueId{});
    if (is_new) found->second = graph_.add_constant("number", {1}, format, contents({words.front()}));
    array.id = found->second;
    return array;
}

void GraphMaker::count_constant(std::size_t elements) {
    constant_elements_ += elements;
    if (constant_elements_ <= most_constant_elements && graph_.values.size() <= most_values) return;
    throw ModelError(fmt::format(
        "with it, the program's constants have more than {} elements, or there are more than {} values; "
        "programs are compiled with fewer",
        most_constant_elements, most_values));
}

Array GraphMaker::constant_of(const Instruction& instruction, const std::function<Array()>& make) {
    const auto found = constants_.find(&instruction);
    return found != constants_.end() ? found->second : constants_.emplace(&instruction, make()).first->second;
}

std::optional<std::vector<std::uint32_t>> GraphMaker::words_of(const Array& array) const {
    const ir::Value& value = graph_.values[array.id];
    if (!value.constant || !value.constant->is_known()) return std::nullopt;
    std::vector<std::uint32_t> words;
    if (value.type == DataType::Bfloat16) {
        for (const std::uint16_t half : value.constant->values<std::uint16_t>())
            words.push_back(std::uint32_t{half} << 16U);
    } else {
        const auto bits = value.constant->bytes();
        words.resize(bits.size() / sizeof(std::uint32_t));
        std::ranges::copy(bits, reinterpret_cast<std::uint8_t*>(words.data()));
    }
    return words;
}

std::optional<std::uint32_t> GraphMaker::word_of(const Array& array) const {
    const ir::Value& value = graph_.values[array.id];
    if (!value.constant || !is_single(value.shape)) return std::nullopt;
    const auto words = words_of(array);
    return words ? std::optional(words->front()) : std::nullopt;
}

Array GraphMaker::chain(ElementType type, const Numbers& dimensions, const std::vector<Array>& operands,
                        const WordFormula& formula) {
    std::vector<ir::FormulaOperand> read;
    for (const Array& operand : operands) {
        read.push_back({.value = operand.id, .word = word_of(operand)});
        // One element may still have the axes of an array that it was taken from.
        if (graph_.values[operand.id].shape.rank() > dimensions.size() + 1)
            read.back().value = reshaped(operand.id, ir::Shape{1});
    }
    ir::FormulaChain made = ir::chain_of(read, formula);
    Array array{.id = 0, .type = type, .dimensions = dimensions};
    if (made.steps.empty()) {
        array.id = made.inputs[made.result];
        if (graph_.values[array.id].type == graph_type(type)) return array;
        made = ir::chain_of(read, [&](std::span<const ir::Word> in) { return same_bits(formula(in)); });
    }
    array.id =
        append("word_chain", {{"steps", std::move(made.steps)}}, std::move(made.inputs), graph_type(type));
    return array;
}

ir::ValueId GraphMaker::reshaped(ir::ValueId id, const ir::Shape& shape) {
    if (const auto found = reshapes_.find(id); found != reshapes_.end()) id = found->second;
    if (graph_.values[id].shape == shape) return id;
    const ir::ValueId made = append(
        "reshape", {{"shape", std::vector<std::int64_t>(shape.extents().begin(), shape.extents().end())}},
        {id}, graph_.values[id].type);
    if (!graph_.values[made].constant) reshapes_.emplace(made, id);
    return made;
}

Array GraphMaker::whole(const Array& array) {
    const ir::Shape shape = graph_shape(array.dimensions);
    const ir::Value& value = graph_.values[array.id];
    if (value.shape.elements() == shape.elements()) return array;
    Array result = array;
    // One element may still have the axes of an array that it was taken from.
    if (value.shape.rank() > shape.rank()) result.id = reshaped(array.id, ir::Shape{1});
    result.id = append("expand",
                       {{"shape", std::vector<std::int64_t>(shape.extents().begin(), shape.extents().end())}},
                       {result.id}, graph_.values[array.id].type);
    return result;
}

ir::ValueId GraphMaker::value_of(const Array& array) {
    return reshaped(whole(array).id, graph_shape(array.dimensions));
}

Array GraphMaker::reshape(const Array& array, const Numbers& dimensions) {
    Array result = array;
    result.dimensions = dimensions;
    static_cast<void>(graph_shape(dimensions));  // it must be possible
    const ir::Shape& extents = graph_.values[array.id].shape;
    if (is_single(extents)) return result;
    if (extents.elements() == graph_shape(array.dimensions).elements()) {
        result.id = reshaped(array.id, graph_shape(dimensions));
        return result;
    }
    // Where only axes of size 1 come and go, broadcast axes stay as they are.
    std::vector<std::uint32_t> kept;
    Numbers old;
    for (std::size_t axis = 0; axis < array.dimensions.size(); ++axis) {
        if (array.dimensions[axis] == 1) continue;
        old.push_back(array.dimensions[axis]);
        kept.push_back(extents[axis + 1]);
    }
    std::vector<std::uint32_t> wanted{1};
    Numbers fresh;
    for (const std::int64_t dimension : dimensions) {
        if (dimension != 1) fresh.push_back(dimension);
        wanted.push_back(dimension == 1 || fresh.size() > kept.size() ? 1 : kept[fresh.size() - 1]);
    }
    if (old == fresh) {
        result.id = reshaped(array.id, ir::Shape(wanted));
        return result;
    }
    result.id = reshaped(whole(array).id, graph_shape(dimensions));
    return result;
}

Array GraphMaker::transpose(const Array& array, const Numbers& axes) {
    Array result = array;
    for (std::size_t i = 0; i < axes.size(); ++i)
        result.dimensions[i] = array.dimensions[static_cast<std::size_t>(axes[i])];
    const ir::Shape extents = graph_.values[array.id].shape;
    if (is_single(extents)) return result;
    std::vector<std::int64_t> permutation{0};
    std::vector<std::uint32_t> moved{1};
    std::int64_t last = -1;
    bool keeps_order = true;  // of the axes that have more than one element
    for (const std::int64_t axis : axes) {
        permutation.push_back(axis + 1);
        moved.push_back(extents[static_cast<std::size_t>(axis) + 1]);
        if (moved.back() == 1) continue;
        keeps_order &= axis > last;
        last = axis;
    }
    result.id = keeps_order ? reshaped(array.id, ir::Shape(moved))
                            : append("transpose", {{"permutation", std::move(permutation)}}, {array.id},
                                     graph_.values[array.id].type);
    return result;
}

Array GraphMaker::transpose_back(const Array& array, const Numbers& axes, const Numbers& dimensions) {
    Numbers moved;
    Numbers back(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
        moved.push_back(dimensions[place(axes[i])]);
        back[place(axes[i])] = static_cast<std::int64_t>(i);
    }
    return transpose(reshape(array, moved), back);
}

Array GraphMaker::slice(const Array& array, const Numbers& first, const Numbers& step, const Numbers& count) {
    Array result = array;
    result.dimensions = count;
    static_cast<void>(graph_shape(count));  // it must be possible
    const ir::Shape extents = graph_.values[array.id].shape;
    if (is_single(extents)) return result;
    std::vector<std::int64_t> from{0};
    std::vector<std::int64_t> steps{1};
    std::vector<std::int64_t> counts{1};
    bool is_same = true;
    for (std::size_t axis = 0; axis < count.size(); ++axis) {
        const bool is_broadcast = extents[axis + 1] == 1;
        from.push_back(is_broadcast ? 0 : first[axis]);
        steps.push_back(is_broadcast || count[axis] == 1 ? 1 : step[axis]);
        counts.push_back(is_broadcast ? 1 : count[axis]);
        is_same &= from.back() == 0 && steps.back() == 1 && counts.back() == extents[axis + 1];
    }
    if (is_same) return result;
    result.id = append("strided_slice",
                       {{"first", std::move(from)}, {"step", std::move(steps)}, {"count", std::move(counts)}},
                       {array.id}, graph_.values[array.id].type);
    return result;
}

Array GraphMaker::part(const Array& array, std::size_t axis, std::int64_t first, std::int64_t count) {
    Numbers from(array.dimensions.size(), 0);
    from[axis] = first;
    Numbers counts = array.dimensions;
    counts[axis] = count;
    return slice(array, from, Numbers(from.size(), 1), counts);
}

Array GraphMaker::reduce(std::string_view reduction, const Array& array, const Numbers& axes) {
    Array result = array;
    std::vector<std::int64_t> reduced;
    for (const std::int64_t axis : axes) {
        if (array.dimensions[place(axis)] == 1) continue;
        reduced.push_back(axis + 1);
        result.dimensions[place(axis)] = 1;
    }
    if (reduced.empty()) return array;
    std::ranges::sort(reduced);
    result.id = append("word_reduce",
                       {{"reduction", std::string(reduction)},
                        {"axes", std::move(reduced)},
                        {"keep", std::int64_t{1}},
                        {"sum_tile", std::int64_t{0}}},
                       {value_of(array)}, graph_type(array.type));
    return result;
}

Array GraphMaker::select(const Array& truth, const Array& yes, const Array& no) {
    return chain(yes.type, yes.dimensions, {truth, yes, no}, [](std::span<const ir::Word> in) {
        return ir::apply(WordOperation::Select, {in[0], in[1], in[2]});
    });
}

Array GraphMaker::concatenate(const std::vector<Array>& arrays, std::size_t axis) {
    Array result = arrays.front();
    std::vector<ir::ValueId> parts;
    std::int64_t extent = 0;
    for (const Array& array : arrays) {
        parts.push_back(value_of(array));
        extent += array.dimensions[axis];
    }
    result.dimensions[axis] = extent;
    if (parts.size() == 1) return result;
    result.id = append("concat", {{"axis", static_cast<std::int64_t>(axis + 1)}}, std::move(parts),
                       graph_type(result.type));
    return result;
}

Array GraphMaker::iota(ElementType type, const Numbers& dimensions, std::size_t axis) {
    constexpr std::uint32_t most_numbers = std::uint32_t{1} << 24U;
    static_cast<void>(graph_shape(dimensions));  // it must be possible
    const auto count = static_cast<std::uint32_t>(dimensions[axis]);
    if (count > most_numbers) {
        throw ModelError(fmt::format("it counts to {}; programs are compiled that count to at most {}", count,
                                     most_numbers));
    }
    const auto [found, is_new] = ranges_.try_emplace({count, dimensions.size(), axis});
    if (is_new) {
        std::vector<std::uint32_t> words(count);
        std::iota(words.begin(), words.end(), 0U);
        Numbers ones(dimensions.size(), 1);
        ones[axis] = dimensions[axis];
        found->second = constant(ElementType::S32, ones, std::move(words));
    }
    Array numbers = found->second;
    numbers.dimensions = dimensions;
    return numbers.type == type ? numbers : converted(*this, numbers, type);
}

}  // namespace systole::hlo
