#include "compiler/operators/words_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "hw/math/floats/float_values.h"

namespace systole::operators {
namespace {

float settled_element(float x) {
    return math::settled(x);
}
/// Of a bfloat16.
std::uint16_t settled_element(std::uint16_t bits) {
    return math::bfloat16_bits(math::float_of_bfloat16(bits));
}

template <typename Number>
ir::Constant settled(const ir::Constant& constant) {
    const std::span<const Number> elements = constant.values<Number>();
    std::vector<Number> made(elements.begin(), elements.end());
    for (Number& element : made) element = settled_element(element);
    const bool is_same = std::memcmp(made.data(), elements.data(), elements.size_bytes()) == 0;
    return is_same ? constant : ir::Constant::of(std::move(made));
}

/// A constant as machines of floats store it.
ir::Value settled_constant(ir::Value value) {
    if (!value.constant->is_known()) return value;
    if (value.type == DataType::Float32) value.constant = settled<float>(*value.constant);
    if (value.type == DataType::Bfloat16) value.constant = settled<std::uint16_t>(*value.constant);
    return value;
}

std::vector<std::int64_t> as_list(const ir::Shape& shape) {
    return {shape.extents().begin(), shape.extents().end()};
}

/// The mean of numbers along some axes, which get an extent of 1.
ir::ValueId mean_words(WordsBuilder& builder, ir::ValueId input, const std::vector<std::size_t>& axes) {
    std::uint64_t count = 1;
    for (const std::size_t axis : axes) count *= builder.shape_of(input)[axis];
    return builder.divide(builder.reduce(systole::Reduction::Sum, input, axes), count);
}

}  // namespace

WordsBuilder::WordsBuilder(const ir::Graph& graph, WordsOptions options)
    : graph_(graph), options_(std::move(options)), words_(graph.values.size()) {
    result_.name = graph.name;
    result_.state = graph.state;
    result_.caches = graph.caches;
    result_.constant_outputs = graph.constant_outputs;
    result_.has_weights = graph.has_weights;
    result_.repeated = graph.repeated;
    result_.replicas = graph.replicas;
    result_.detours = graph.detours;
    for (const ir::ValueId id : graph.inputs) {
        words_[id] = static_cast<ir::ValueId>(result_.values.size());
        result_.inputs.push_back(*words_[id]);
        result_.values.push_back(graph.values[id]);
    }
}

void WordsBuilder::fail(const ir::Node& node, const std::string& rule) {
    throw ModelError(fmt::format("layer {}: {}", in_quotes(node.name), rule));
}

void WordsBuilder::add(const ir::Node& node) {
    node_ = &node;
    const Operator& op = operator_of(node);
    if (!op.has_words()) op.fail_without_words(node);
    op.to_words(node, *this);
    node_ = nullptr;
}

ir::Graph WordsBuilder::finish() && {
    for (const ir::ValueId id : graph_.outputs) result_.outputs.push_back(words_of(id));
    ir::remove_unread(result_);
    return std::move(result_);
}

ir::ValueId WordsBuilder::words_of(ir::ValueId id) {
    if (words_[id]) return *words_[id];
    const ir::Value& value = graph_.values[id];
    if (!value.constant) throw std::logic_error(fmt::format("{} is not computed in words yet", value.name));
    words_[id] = static_cast<ir::ValueId>(result_.values.size());
    result_.values.push_back(settled_constant(value));
    return *words_[id];
}

ir::ValueId WordsBuilder::append(std::string_view op, std::vector<ir::NamedAttribute> attributes,
                                 std::vector<ir::ValueId> inputs, std::optional<std::uint32_t> stated_data,
                                 std::vector<ir::ResultType> types) {
    return result_.append(node_->name, registry().at(op), std::move(attributes), std::move(inputs),
                          DataType::Uint8, std::move(types), stated_data);
}

ir::ValueId WordsBuilder::constant(std::string_view role, const ir::Shape& shape,
                                   std::vector<float> elements) {
    for (float& element : elements) element = math::settled(element);
    return result_.add_constant(fmt::format("{}/{}", node_->name, role), shape, DataType::Float32,
                                std::move(elements));
}

ir::ValueId WordsBuilder::unknown_constant(std::string_view role, const ir::Shape& shape) {
    return result_.add_constant(fmt::format("{}/{}", node_->name, role), shape, DataType::Float32,
                                ir::Constant());
}

ir::ValueId WordsBuilder::integers(std::string_view role, const ir::Shape& shape,
                                   std::vector<std::int32_t> elements) {
    return result_.add_constant(fmt::format("{}/{}", node_->name, role), shape, DataType::Int32,
                                std::move(elements));
}

ir::FormulaChain WordsBuilder::formula_chain(const std::vector<ir::ValueId>& inputs,
                                             const WordFormula& formula) const {
    std::size_t most_axes = 0;  // of inputs with more than one element
    for (const ir::ValueId id : inputs) {
        if (shape_of(id).elements() != 1) most_axes = std::max(most_axes, shape_of(id).rank());
    }
    const auto is_number = [&](ir::ValueId id) {
        const ir::Value& input = value(id);
        return input.constant && input.constant->is_known() && input.shape.elements() == 1 &&
               input.shape.rank() <= most_axes;
    };
    std::vector<ir::FormulaOperand> operands;
    for (const ir::ValueId id : inputs) {
        operands.push_back({.value = id});
        if (is_number(id)) {
            const float number = value(id).constant->values<float>().front();
            operands.back().word = std::bit_cast<std::uint32_t>(number);
        }
    }
    ir::FormulaChain chain = ir::chain_of(operands, formula);
    if (chain.inputs.size() > most_chain_inputs)
        throw std::logic_error("a chain of words has too many inputs");
    return chain;
}

ir::ValueId WordsBuilder::chain(const std::vector<ir::ValueId>& inputs, const WordFormula& formula) {
    ir::FormulaChain chain = formula_chain(inputs, formula);
    if (chain.steps.empty()) {
        if (chain.inputs.size() == 1) return chain.inputs.front();
        throw std::logic_error("a formula of several words is one of them");
    }
    return append("word_chain", {{"steps", std::move(chain.steps)}}, std::move(chain.inputs));
}

ir::ValueId WordsBuilder::chain_as(DataType type, const std::vector<ir::ValueId>& inputs,
                                   const WordFormula& formula) {
    ir::FormulaChain chain = formula_chain(inputs, formula);
    if (chain.steps.empty()) {
        // A chain has a step, also where words get another type alone.
        chain = formula_chain(inputs, [&](std::span<const Word> in) {
            const Word same = formula(in);
            return apply(WordOperation::Or, {same, same});
        });
    }
    return append("word_chain", {{"steps", std::move(chain.steps)}}, std::move(chain.inputs), {}, {{type}});
}

ir::ValueId WordsBuilder::reduce(systole::Reduction reduction, ir::ValueId input,
                                 const std::vector<std::size_t>& axes, bool keep) {
    return append("word_reduce",
                  {{"reduction", std::string(traits_of(reduction).name)},
                   {"axes", std::vector<std::int64_t>(axes.begin(), axes.end())},
                   {"keep", std::int64_t{keep ? 1 : 0}},
                   {"sum_tile", std::int64_t{options_.reduction_block}}},
                  {input});
}

ir::ValueId WordsBuilder::divide(ir::ValueId sums, std::uint64_t count) {
    return chain({sums}, [=](std::span<const Word> in) { return in[0] / static_cast<float>(count); });
}

ir::ValueId WordsBuilder::windows(systole::Reduction reduction, ir::ValueId input, const ir::Window& window) {
    const ir::FeatureMap map = ir::feature_map(shape_of(input));
    const bool is_whole = window.kernel_height == map.height && window.kernel_width == map.width &&
                          ir::window_output(map, window, map.channels).is_vector() && window.pad_top == 0 &&
                          window.pad_left == 0 && !window.is_dilated();
    if (is_whole) return reduce(reduction, reshape(input, ir::image_shape(map)), {1, 2});
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of(window);
    attributes.emplace_back("reduction", std::string(traits_of(reduction).name));
    return append("word_windows", std::move(attributes), {input});
}

ir::ValueId WordsBuilder::reshape(ir::ValueId input, const ir::Shape& shape) {
    if (shape_of(input) == shape) return input;
    if (value(input).constant) {
        ir::Value moved = value(input);
        moved.shape = shape;
        result_.values.push_back(std::move(moved));
        return static_cast<ir::ValueId>(result_.values.size() - 1);
    }
    return append("reshape", {{"shape", as_list(shape)}}, {input});
}

ir::ValueId WordsBuilder::take(ir::ValueId input, std::size_t axis, const std::vector<std::int64_t>& places) {
    const ir::ValueId indices =
        result_.add_constant(node_->name + "/places", {static_cast<std::uint32_t>(places.size())},
                             DataType::Int32, std::vector<std::int32_t>(places.begin(), places.end()));
    return append("gather", {{"axis", static_cast<std::int64_t>(axis)}}, {input, indices});
}

ir::ValueId WordsBuilder::slice(ir::ValueId input, const std::vector<std::int64_t>& first,
                                const std::vector<std::int64_t>& count) {
    if (count == as_list(shape_of(input))) return input;
    return append("strided_slice",
                  {{"first", first}, {"step", std::vector<std::int64_t>(first.size(), 1)}, {"count", count}},
                  {input});
}

CenteredWords centered_words(WordsBuilder& builder, ir::ValueId input, const std::vector<std::size_t>& axes) {
    const ir::ValueId mean = mean_words(builder, input, axes);
    const ir::ValueId differences =
        builder.chain({input, mean}, [](std::span<const Word> in) { return in[0] - in[1]; });
    return {differences, mean_square_words(builder, differences, axes)};
}

ir::ValueId mean_square_words(WordsBuilder& builder, ir::ValueId input,
                              const std::vector<std::size_t>& axes) {
    const ir::ValueId squares =
        builder.chain({input}, [](std::span<const Word> in) { return in[0] * in[0]; });
    return mean_words(builder, squares, axes);
}

void WordsBuilder::set(ir::ValueId id, ir::ValueId words) {
    is_named_.resize(result_.values.size(), false);
    const bool is_taken = is_named_[words] || value(words).constant || ir::is_input(result_, words);
    const ir::Value& of = graph_.values[id];
    // An output of the network may have an order of axes of its own.
    if (is_taken && ir::is_output(graph_, id)) return set(id, append("identity", {}, {words}));
    words_[id] = words;
    if (is_taken) return;
    ir::Value& named = result_.values[words];
    if (named.shape != of.shape || named.type != of.type) {
        throw std::logic_error(
            fmt::format("{} was {} and is {}", of.name, to_text(of.shape), to_text(named.shape)));
    }
    named.name = of.name;
    named.file_axes = of.file_axes;
    named.file_type = of.file_type;
    named.split_axis = of.split_axis;
    named.stored_as = of.stored_as;
    named.before = of.before;
    is_named_[words] = true;
}

void WordsBuilder::copy(const ir::Node& node, const std::vector<ir::NamedAttribute>& changed) {
    std::vector<ir::ValueId> inputs;
    for (const ir::ValueId input : node.inputs) inputs.push_back(words_of(input));
    std::vector<ir::NamedAttribute> attributes;
    for (std::size_t i = 0; i < node.attributes.size(); ++i) {
        const std::string& name = node.op->attributes()[i].name;
        const auto other = std::ranges::find(changed, name, &ir::NamedAttribute::first);
        attributes.emplace_back(name, other == changed.end() ? node.attributes[i] : other->second);
    }
    std::vector<ir::ResultType> types;
    for (const ir::ValueId output : node.outputs)
        types.push_back({graph_.values[output].type, graph_.values[output].quantization});
    ir::ValueId result =
        append(node.op->name(), std::move(attributes), std::move(inputs), node.stated_data, std::move(types));
    for (const ir::ValueId output : node.outputs) set(output, result++);
}

}  // namespace systole::operators
