#include "compiler/operators/quantizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/tables.h"

namespace systole::operators {

using ir::Node;
using ir::ValueId;

Quantizer::Quantizer(const ir::Graph& graph, bool quantizes_products)
    : graph_(graph),
      quantizes_products_(quantizes_products),
      readers_(ir::readers(graph)),
      border_(graph),
      sources_(moved_sources(graph)),
      shared_(graph),
      stored_(graph.values.size()),
      real_(graph.values.size()),
      repeated_(graph.repeated.begin(), graph.repeated.end()) {
    result_.name = graph.name;
    result_.has_weights = graph.has_weights;
    result_.repeated = graph.repeated;
}

DataType Quantizer::type(ValueId id) const {
    const DataType type = graph_.values[id].stored_as;
    if (type != DataType::Uint8 && type != DataType::Int16) {
        fail(id, fmt::format("it is to be stored as {}; activations may be uint8 or int16", name_of(type)));
    }
    return type;
}

ir::Encoding Quantizer::encoding(ValueId id, DataType type) const {
    const std::optional<ir::Range>& range = graph_.values[id].range;
    if (!range) fail(id, "it has no range; quantization needs that of each activation");
    if (const auto wrong = ir::end_without_size(*range)) {
        fail(id, fmt::format("it gives {} on a calibration input; results must be finite", *wrong));
    }
    return encoding_of(*range, type);
}

const Node* Quantizer::function_after(ValueId id) const {
    if (readers_[id].size() != 1 || border_.is_output(id)) return nullptr;
    const Node& reader = graph_.nodes[readers_[id][0]];
    return operator_of(reader).function(reader) ? &reader : nullptr;
}

void Quantizer::fail(ValueId id, const std::string& rule) const {
    throw ModelError(fmt::format("{}: layer {}: {}", graph_.name, in_quotes(graph_.values[id].name), rule));
}

void Quantizer::require_one_width(const Node& node) {
    constexpr std::uint32_t byte_bits = 8;
    const auto bits = [](DataType type) { return bytes_of(type) * byte_bits; };
    const DataType result = type(node.output());
    for (const ValueId input : node.inputs) {
        const DataType given = result_.values[stored(input)].type;
        if (bytes_of(given) == bytes_of(result)) continue;
        fail(node.output(), fmt::format("it gives {} bits from {} bits; of {}, input and result have as many",
                                        bits(result), bits(given), node.op->name()));
    }
}

ValueId Quantizer::stored(ValueId id) {
    if (graph_.values[id].constant) fail(id, "it is a constant; the chip takes constants as weights alone");
    if (!stored_[id]) {
        const ValueId from = real_[id].value();
        stored_[id] = add_value(id, encoding(id));
        const ir::Operator& op = registry().at("quantize");
        add_node({.name = graph_.values[id].name,
                  .op = &op,
                  .attributes = ir::complete_attributes(op, {}),
                  .inputs = {from},
                  .outputs = {*stored_[id]}});
    }
    return *stored_[id];
}

ValueId Quantizer::real(ValueId id) {
    if (real_[id]) return *real_[id];
    const ir::Value& value = graph_.values[id];
    if (value.constant) {
        real_[id] = add_constant(value.name, value.shape, value.type, *value.constant);
        return *real_[id];
    }
    const ValueId from = stored_[id].value();
    real_[id] = add_float_value(id);
    add_node({.name = value.name,
              .op = &registry().at("dequantize"),
              .attributes = {},
              .inputs = {from},
              .outputs = {*real_[id]}});
    return *real_[id];
}

ValueId Quantizer::add_float_value(ValueId id) {
    const ir::Value& value = graph_.values[id];
    result_.values.push_back({.name = value.name,
                              .shape = value.shape,
                              .type = value.type,
                              .file_axes = value.file_axes,
                              .before = value.before});
    return static_cast<ValueId>(result_.values.size() - 1);
}

void Quantizer::add_input(ValueId id, const ir::Encoding& encoding) {
    const ValueId input = add_value(id, encoding);
    result_.inputs.push_back(input);
    store(id, input);
}

void Quantizer::add_integer_input(ValueId id) {
    real_[id] = add_float_value(id);
    result_.inputs.push_back(*real_[id]);
}

ValueId Quantizer::add_value(ValueId id, const ir::Encoding& encoding) {
    const auto value = static_cast<ValueId>(result_.values.size());
    result_.values.push_back({.name = graph_.values[id].name,
                              .shape = graph_.values[id].shape,
                              .type = encoding.type,
                              .quantization = ir::Quantization{{encoding.scale}, {encoding.zero_point}, {}},
                              .file_axes = graph_.values[id].file_axes,
                              .before = graph_.values[id].before});
    return value;
}

ValueId Quantizer::add_value(ValueId id, const ir::Shape& shape, const ir::Encoding& encoding) {
    const ValueId value = add_value(id, encoding);
    result_.values[value].shape = shape;
    result_.values[value].file_axes.clear();
    result_.values[value].before.reset();
    return value;
}

ValueId Quantizer::add_constant(std::string name, const ir::Shape& shape, DataType type,
                                ir::Constant contents, std::optional<ir::Quantization> quantization) {
    const ValueId id = result_.add_constant(std::move(name), shape, type, std::move(contents));
    result_.values[id].quantization = std::move(quantization);
    return id;
}

void Quantizer::add_like(const Node& node, const ir::Encoding& result) {
    add_copy(node, add_value(node.output(), result));
}

void Quantizer::add_real_from_stored(const Node& node) {
    add_copy(node, add_float_value(node.output()));
}

void Quantizer::add_real(const Node& node) {
    Node added = node;
    for (ValueId& input : added.inputs) input = real(input);
    for (ValueId& output : added.outputs) {
        const ValueId value = add_float_value(output);
        real_[output] = value;
        output = value;
    }
    add_node(std::move(added));
}

void Quantizer::add_copy(const Node& node, ValueId result) {
    Node added = node;
    for (ValueId& input : added.inputs) input = stored(input);
    added.outputs = {result};
    store(node.output(), result);
    add_node(std::move(added));
}

void Quantizer::add_lookup(const Node& node, ValueId from, ValueId to, const ElementFunction& function) {
    const DataType type = result_.values[to].type;
    const ir::Encoding of = encoding_of(result_.values[from]);
    const ir::Encoding result = encoding_of(result_.values[to]);
    Parameters table{.of = {}, .encodings = {of, result}};
    // Also which of the inputs is the constant one.
    for (const ValueId input : node.inputs)
        table.of.push_back(graph_.values[input].constant ? input : ir::no_value);
    const Parameters* const known = known_parameters(node, table);
    const ValueId constant = known != nullptr ? known->made.front()
                                              : add_constant(node.name + "/table", {table_entries(type)},
                                                             type, make_table(function, of, result));
    if (known == nullptr) {
        table.made = {constant};
        keep_parameters(node, std::move(table));
    }
    add_node({.name = node.name,
              .op = &registry().at("lookup"),
              .attributes = {},
              .inputs = {from, constant},
              .outputs = {to}});
}

const Quantizer::Parameters* Quantizer::known_parameters(const Node& node, const Parameters& wanted) const {
    const auto part = parameters_.find(node.name);
    if (part == parameters_.end()) return nullptr;
    const auto known = std::ranges::find_if(part->second, [&](const PartParameters& each) {
        return each.op == node.op && each.attributes == node.attributes && each.parameters.of == wanted.of &&
               each.parameters.encodings == wanted.encodings;
    });
    return known == part->second.end() ? nullptr : &known->parameters;
}

void Quantizer::keep_parameters(const Node& node, Parameters parameters) {
    if (!is_repeated(node)) return;
    parameters_[node.name].push_back(
        {.op = node.op, .attributes = node.attributes, .parameters = std::move(parameters)});
}

ValueId Quantizer::add_conversion(const Node& concatenation, ValueId input, const ir::Encoding& encoding) {
    const ValueId from = stored(input);
    const ValueId to = add_value(input, encoding);
    conversions_.push_back(static_cast<ir::NodeId>(result_.nodes.size()));
    add_lookup(concatenation, from, to, [](float real) { return real; });
    return to;
}

/// Moves the conversions for concatenations forward, behind the first node that reads the converted value as
/// it is. Where a concatenation needs them, their rows would come between the last branch and its readers.
void Quantizer::convert_early() {
    std::vector<Node>& nodes = result_.nodes;
    std::vector<bool> is_conversion(nodes.size(), false);
    for (const ir::NodeId id : conversions_) is_conversion[id] = true;
    std::vector<std::optional<ir::NodeId>> used_by(result_.values.size());  // by value
    for (ir::NodeId id = 0; id < nodes.size(); ++id) {
        if (is_conversion[id]) continue;
        for (const ValueId input : nodes[id].inputs) {
            if (!used_by[input]) used_by[input] = id;
        }
    }
    std::vector<std::vector<ir::NodeId>> behind(nodes.size());
    for (const ir::NodeId id : conversions_) {
        const std::optional<ir::NodeId> reader = used_by[nodes[id].inputs.front()];
        is_conversion[id] = reader && *reader < id;
        if (is_conversion[id]) behind[*reader].push_back(id);
    }
    std::vector<Node> ordered;
    ordered.reserve(nodes.size());
    for (ir::NodeId id = 0; id < nodes.size(); ++id) {
        if (!is_conversion[id]) ordered.push_back(std::move(nodes[id]));
        for (const ir::NodeId moved : behind[id]) ordered.push_back(std::move(nodes[moved]));
    }
    nodes = std::move(ordered);
}

/// An output with the stored elements of another one, in the same order, becomes a copy of them: the chip
/// writes each tensor into the memory of one output.
/// By a table of bytes. One of 16 bits would not give all numbers as they are.
ValueId Quantizer::copy_of(ValueId stored, ValueId output) {
    const ir::Value value = result_.values[stored];
    const std::string& name = graph_.values[output].name;
    if (bytes_of(value.type) != 1) {
        const ValueId copy = result_.append(name, registry().at("requantize"), {}, {stored}, value.type,
                                            {{value.type, value.quantization}});
        result_.values[copy].name = name;
        result_.values[copy].file_axes = graph_.values[output].file_axes;
        result_.values[copy].before = graph_.values[output].before;
        return copy;
    }
    const ValueId copy = add_value(output, encoding_of(value));
    Node node;
    node.name = name;
    add_lookup(node, stored, copy, [](float real) { return real; });
    return copy;
}

void Quantizer::add_outputs() {
    std::vector<ValueId> outputs;
    for (const ValueId output : graph_.outputs) {
        outputs.push_back(real_[output] && !stored_[output] ? *real_[output] : stored(output));
    }
    const auto producers = ir::producers(result_);
    const auto elements_of = [&](ValueId id) {
        while (producers[id] && (result_.nodes[*producers[id]].is("reshape") ||
                                 result_.nodes[*producers[id]].is("identity"))) {
            id = result_.nodes[*producers[id]].inputs.front();
        }
        return id;
    };
    std::vector<bool> is_output(result_.values.size(), false);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ValueId elements = elements_of(outputs[i]);
        const bool is_stored = result_.values[outputs[i]].quantization.has_value();
        if (is_output[elements] && is_stored) {
            outputs[i] = copy_of(outputs[i], graph_.outputs[i]);
        }
        is_output[elements] = true;
    }
    result_.outputs = std::move(outputs);
}

ir::Graph Quantizer::finish() && {
    convert_early();
    add_outputs();
    return std::move(result_);
}

}  // namespace systole::operators
