#include "compiler/ir/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <string_view>

#include "base/message_text.h"
#include "compiler/ir/border_values.h"
#include "compiler/ir/model_error.h"

namespace systole::ir {
namespace {

std::size_t position_of(const Node& node, std::string_view attribute) {
    const std::vector<AttributeDeclaration>& declarations = node.op->attributes();
    const auto found = std::ranges::find(declarations, attribute, &AttributeDeclaration::name);
    if (found == declarations.end()) {
        throw std::logic_error(fmt::format("{} has no attribute {}", node.op->name(), attribute));
    }
    return static_cast<std::size_t>(found - declarations.begin());
}

template <typename Alternative>
const Alternative& alternative_of(const Node& node, std::string_view attribute) {
    const auto* const value = std::get_if<Alternative>(&node.attributes.at(position_of(node, attribute)));
    if (value == nullptr) {
        throw std::logic_error(
            fmt::format("attribute {} of {} has another type", attribute, node.op->name()));
    }
    return *value;
}

const Value& only(const Graph& graph, const std::vector<ValueId>& values, const char* what) {
    if (values.size() != 1) {
        throw std::logic_error(fmt::format("{} has {} {}; it must have 1", graph.name, values.size(), what));
    }
    return graph.values[values.front()];
}

void check_size(const Shape& shape) {
    const auto elements = shape.checked_elements();
    if (!elements || *elements > maximum_elements) {
        throw ModelError(fmt::format("its result is {}; a tensor has at most {} elements", map_text(shape),
                                     maximum_elements));
    }
}

ModelError with_layer(std::string_view layer, const ModelError& error) {
    ModelError named(fmt::format("layer {}: {}", in_quotes(layer), error.what()));
    return named;
}

}  // namespace

std::int64_t Node::integer(std::string_view attribute) const {
    return alternative_of<std::int64_t>(*this, attribute);
}
double Node::real(std::string_view attribute) const {
    return alternative_of<double>(*this, attribute);
}
const std::string& Node::text(std::string_view attribute) const {
    return alternative_of<std::string>(*this, attribute);
}
const std::vector<std::int64_t>& Node::integers(std::string_view attribute) const {
    return alternative_of<std::vector<std::int64_t>>(*this, attribute);
}
void Node::set(std::string_view attribute, Attribute value) {
    attributes.at(position_of(*this, attribute)) = std::move(value);
}

const Value& Graph::input() const {
    return only(*this, inputs, "inputs");
}
const Value& Graph::output() const {
    return only(*this, outputs, "outputs");
}

ValueId Graph::add_input(std::string input_name, const Shape& shape, DataType stored_as) {
    try {
        if (std::ranges::find(shape.extents(), 0U) != shape.extents().end()) {
            throw ModelError(
                fmt::format("its shape is {}; each dimension must be at least 1", map_text(shape)));
        }
        check_size(shape);
    } catch (const ModelError& error) {
        throw with_layer(input_name, error);
    }
    const auto id = static_cast<ValueId>(values.size());
    values.push_back({.name = std::move(input_name),
                      .shape = shape,
                      .type = DataType::Float32,
                      .quantization = {},
                      .constant = {},
                      .range = {},
                      .stored_as = stored_as});
    inputs.push_back(id);
    return id;
}

ValueId Graph::add_constant(std::string constant_name, const Shape& shape, DataType type, Constant constant) {
    if (constant.is_known() && constant.bytes().size() != shape.elements() * bytes_of(type)) {
        throw std::logic_error(fmt::format("constant {} has {} bytes for {} of {}", in_quotes(constant_name),
                                           constant.bytes().size(), to_text(shape), name_of(type)));
    }
    const auto id = static_cast<ValueId>(values.size());
    values.push_back({.name = std::move(constant_name),
                      .shape = shape,
                      .type = type,
                      .quantization = {},
                      .constant = std::move(constant)});
    return id;
}

ValueId Graph::append(std::string layer, const Operator& op, std::vector<NamedAttribute> attributes,
                      std::vector<ValueId> node_inputs, DataType stored_as, std::vector<ResultType> types,
                      std::optional<std::uint32_t> stated_data) {
    for (const ValueId input : node_inputs) {
        if (input >= values.size()) throw std::logic_error("a node reads only values that are there");
    }
    Node node{.name = std::move(layer),
              .op = &op,
              .attributes = {},
              .inputs = std::move(node_inputs),
              .outputs = {},
              .stated_data = stated_data};
    std::vector<Shape> shapes;
    try {
        node.attributes = complete_attributes(op, std::move(attributes));
        shapes = op.output_shapes(NodeView(*this, node));
        for (const Shape& shape : shapes) check_size(shape);
    } catch (const ModelError& error) {
        throw with_layer(node.name, error);
    }
    if (types.empty()) types.assign(shapes.size(), {.type = op.result_type(NodeView(*this, node))});
    if (types.size() != shapes.size()) {
        throw std::logic_error(fmt::format("node {} has {} results and {} types", in_quotes(node.name),
                                           shapes.size(), types.size()));
    }
    const bool is_shared = makes_shared(NodeView(*this, node));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        node.outputs.push_back(static_cast<ValueId>(values.size()));
        values.push_back({.name = node.name,
                          .shape = shapes[i],
                          .type = types[i].type,
                          .quantization = std::move(types[i].quantization),
                          .constant = {},
                          .range = {},
                          .is_shared = is_shared,
                          .stored_as = stored_as});
    }
    nodes.push_back(std::move(node));
    return nodes.back().output();
}

void Graph::fold_last_node() {
    const Node& node = nodes.back();
    const bool is_known = std::ranges::all_of(node.inputs, [&](ValueId id) {
        return values[id].constant.has_value() && values[id].constant->is_known();
    });
    if (!is_known) return;
    std::vector<Constant> contents;
    try {
        // The types of a whole graph are checked later, when this node is no more.
        node.op->check_types(NodeView(*this, node));
        contents = node.op->fold(NodeView(*this, node));
    } catch (const ModelError& error) {
        throw with_layer(node.name, error);
    }
    if (contents.empty()) return;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        values[node.outputs[i]].constant = std::move(contents.at(i));
    }
    nodes.pop_back();
}

std::size_t NodeView::data_inputs() const {
    if (node_.stated_data) return std::min<std::size_t>(*node_.stated_data, node_.inputs.size());
    const auto is_data = [&](ValueId id) { return !graph_.values[id].constant.has_value(); };
    return static_cast<std::size_t>(std::ranges::count_if(node_.inputs, is_data));
}

void NodeView::require_inputs(std::size_t data, std::size_t constants) const {
    for (std::size_t i = 0; data_inputs() < data && i < std::min(data, node_.inputs.size()); ++i) {
        if (!input(i).constant) continue;
        throw ModelError(
            fmt::format("its input {} is a constant; it must be computed from the network's inputs", i));
    }
    if (data_inputs() != data) {
        throw ModelError(
            fmt::format("it has {}; it must have exactly {}", counted(data_inputs(), "input"), data));
    }
    for (std::size_t i = 0; i < data; ++i) {
        if (!input(i).constant) continue;
        throw ModelError(
            fmt::format("its input {} is a constant; constants must follow its other inputs", i));
    }
    if (node_.inputs.size() - data != constants) {
        throw ModelError(fmt::format("it has {} constant inputs; it must have exactly {}",
                                     node_.inputs.size() - data, constants));
    }
}

const Value* NodeView::parameter(std::size_t index) const {
    const std::size_t input_index = data_inputs() + index;
    return input_index < node_.inputs.size() ? &input(input_index) : nullptr;
}

const Value* NodeView::constant(std::size_t index) const {
    const Value* const value = parameter(index);
    if (value == nullptr || value->constant) return value;
    throw ModelError(
        fmt::format("{} is computed by another layer; it must be a constant", in_quotes(value->name)));
}

std::optional<std::string> NodeView::computed_parameter() const {
    const std::vector<std::string_view> roles = node_.op->parameter_roles();
    for (std::size_t i = 0; i < roles.size(); ++i) {
        const Value* const value = parameter(i);
        if (value != nullptr && !value->constant) return std::string(roles[i]);
    }
    return std::nullopt;
}

std::vector<Attribute> complete_attributes(const Operator& op, std::vector<NamedAttribute> given) {
    const std::vector<AttributeDeclaration>& declarations = op.attributes();
    std::vector<Attribute> attributes;
    for (const AttributeDeclaration& declaration : declarations) {
        const auto found = std::ranges::find(given, declaration.name, &NamedAttribute::first);
        if (found == given.end()) {
            if (declaration.is_required) {
                throw ModelError(fmt::format("attribute {} is absent; it must be given", declaration.name));
            }
            attributes.push_back(declaration.absent);
            continue;
        }
        if (const auto rule = broken_rule(declaration, found->second)) {
            throw ModelError(
                fmt::format("attribute {} is {}; {}", declaration.name, to_text(found->second), *rule));
        }
        attributes.push_back(std::move(found->second));
        given.erase(found);
    }
    if (!given.empty()) {
        throw ModelError(fmt::format("{} has no attribute {}, or it is given twice", op.name(),
                                     in_quotes(given.front().first)));
    }
    return attributes;
}

std::vector<std::vector<NodeId>> repeated_nodes(const Graph& graph) {
    std::vector<std::vector<NodeId>> nodes;
    if (graph.repeated.empty()) return nodes;
    std::map<std::string_view, std::size_t> places;
    for (const std::string& name : graph.repeated) places.emplace(name, places.size());
    nodes.resize(places.size());
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        const auto place = places.find(graph.nodes[id].name);
        if (place != places.end()) nodes[place->second].push_back(id);
    }
    std::erase_if(nodes, [](const std::vector<NodeId>& none) { return none.empty(); });
    return nodes;
}

std::vector<std::vector<NodeId>> readers(const Graph& graph) {
    std::vector<std::vector<NodeId>> nodes(graph.values.size());
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        for (const ValueId input : graph.nodes[id].inputs) nodes[input].push_back(id);
    }
    return nodes;
}

std::vector<std::optional<NodeId>> producers(const Graph& graph) {
    std::vector<std::optional<NodeId>> nodes(graph.values.size());
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        for (const ValueId output : graph.nodes[id].outputs) nodes[output] = id;
    }
    return nodes;
}

bool is_input(const Graph& graph, ValueId value) {
    return std::ranges::find(graph.inputs, value) != graph.inputs.end();
}

bool is_output(const Graph& graph, ValueId value) {
    return std::ranges::find(graph.outputs, value) != graph.outputs.end();
}

bool is_replaced(const Graph& graph, ValueId value) {
    const auto is_input = [&](std::uint32_t number) { return graph.inputs[number] == value; };
    return std::ranges::any_of(graph.state, is_input, &Graph::State::input) ||
           std::ranges::any_of(graph.caches, [&](const Graph::Cache& cache) {
               return cache.input && is_input(*cache.input);
           });
}

bool is_quantized(const Graph& graph) {
    return std::ranges::any_of(
        graph.values, [](const Value& value) { return !value.constant && value.quantization.has_value(); });
}

std::uint64_t macs(const Graph& graph) {
    std::uint64_t sum = 0;
    for (const Node& node : graph.nodes) sum += node.op->macs(NodeView(graph, node));
    return sum;
}

std::uint64_t weight_count(const NodeView& node) {
    if (!node.node().op->has_weights()) return 0;
    return node.parameter(0)->shape.elements();
}

void replace_value(Graph& graph, ValueId value, ValueId by) {
    for (Node& node : graph.nodes) std::ranges::replace(node.inputs, value, by);
    std::ranges::replace(graph.outputs, value, by);
}

namespace {

/// The marked nodes that can be removed: not those whose result is an output of the network, or stands for
/// one, while their input has another order of the file's axes.
std::vector<bool> removable(const Graph& graph, std::vector<bool> removed) {
    std::vector<std::optional<std::vector<std::uint32_t>>> orders(graph.values.size());
    for (const ValueId id : graph.inputs) orders[id] = graph.values[id].file_axes;
    for (const ValueId id : graph.outputs) orders[id] = graph.values[id].file_axes;
    for (std::size_t id = graph.nodes.size(); id-- > 0;) {
        const Node& node = graph.nodes[id];
        if (!removed[id] || node.inputs.empty() || !orders[node.output()]) continue;
        auto& order = orders[node.inputs.front()];
        if (!order) order = orders[node.output()];
        removed[id] = order == orders[node.output()];
    }
    return removed;
}

/// Replaces outputs of the network by other values, which then live on as these outputs.
void replace_outputs(Graph& graph, const BorderValues& border, const std::vector<ValueId>& by) {
    for (ValueId& output : graph.outputs) {
        const Value& old = graph.values[output];
        if (by[output] == output) continue;
        output = by[output];
        if (border.is_input(output)) continue;
        graph.values[output].file_axes = old.file_axes;
        graph.values[output].before = old.before;
    }
}

}  // namespace

void remove_nodes(Graph& graph, const std::vector<bool>& marked) {
    const std::vector<bool> removed = removable(graph, marked);
    const std::vector<std::vector<NodeId>> original_readers = readers(graph);
    const BorderValues border(graph);
    // Nodes are visited in order. The result of a removed node is replaced by the value that the node reads
    // now.
    std::vector<ValueId> by(graph.values.size());
    for (ValueId id = 0; id < by.size(); ++id) by[id] = id;
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        Node& node = graph.nodes[id];
        const ValueId original = node.inputs.empty() ? 0 : node.inputs.front();
        for (ValueId& input : node.inputs) input = by[input];
        if (!removed[id]) continue;
        if (NodeView(graph, node).data_inputs() != 1 || node.outputs.size() != 1) {
            throw std::logic_error("a node can be removed only if it has one input and one result");
        }
        const ValueId output = node.output();
        by[output] = node.inputs.front();
        const bool is_read = !original_readers[output].empty() || border.is_output(output);
        const bool read_alone = original_readers[original].size() == 1 && !border.is_output(original);
        if (is_read && read_alone) graph.values[by[output]].stored_as = graph.values[output].stored_as;
    }
    replace_outputs(graph, border, by);
    std::size_t id = 0;
    std::erase_if(graph.nodes, [&](const Node&) { return removed[id++]; });
    remove_unread(graph);
}

void remove_unread(Graph& graph) {
    std::vector<bool> is_read(graph.values.size(), false);
    for (const ValueId value : graph.inputs) is_read[value] = true;
    for (const ValueId value : graph.outputs) is_read[value] = true;
    std::vector<bool> kept(graph.nodes.size(), false);
    for (std::size_t id = graph.nodes.size(); id-- > 0;) {
        const Node& node = graph.nodes[id];
        kept[id] = std::ranges::any_of(node.outputs, [&](ValueId output) { return is_read[output]; });
        if (!kept[id]) continue;
        for (const ValueId value : node.inputs) is_read[value] = true;
        for (const ValueId value : node.outputs) is_read[value] = true;
    }
    std::size_t position = 0;
    std::erase_if(graph.nodes, [&](const Node&) { return !kept[position++]; });

    std::vector<ValueId> new_ids(graph.values.size());
    std::vector<Value> values;
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        if (!is_read[id]) continue;
        new_ids[id] = static_cast<ValueId>(values.size());
        values.push_back(std::move(graph.values[id]));
    }
    graph.values = std::move(values);
    const auto rename = [&](std::vector<ValueId>& ids) {
        for (ValueId& id : ids) id = new_ids[id];
    };
    rename(graph.inputs);
    rename(graph.outputs);
    for (Node& node : graph.nodes) {
        rename(node.inputs);
        rename(node.outputs);
    }
}

bool makes_shared(const NodeView& node) {
    if (node.node().op->reduces_batch(node.node())) return true;
    bool reads_shared = false;
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
        if (node.input(i).has_batch()) return false;
        reads_shared |= node.input(i).is_shared;
    }
    return reads_shared;
}

bool mixes_images(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) { return node.op->mixes_images(node); });
}

void infer_shapes_of(Graph& graph, NodeId id) {
    const Node& node = graph.nodes[id];
    try {
        const std::vector<Shape> shapes = node.op->output_shapes(NodeView(graph, node));
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            graph.values[node.outputs[i]].shape = shapes.at(i);
        }
    } catch (const ModelError& error) {
        throw with_layer(node.name, error);
    }
}

void infer_shapes(Graph& graph) {
    for (NodeId id = 0; id < graph.nodes.size(); ++id) infer_shapes_of(graph, id);
}

}  // namespace systole::ir
