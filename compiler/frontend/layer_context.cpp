#include "compiler/frontend/layer_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

using nlohmann::json;

/// The value as an integer from -2^31 to 2^32 - 1, or nullopt.
std::optional<std::int64_t> as_integer(const json& value) {
    if (!value.is_number_integer()) return std::nullopt;
    constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t highest = std::numeric_limits<std::uint32_t>::max();
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{highest})
        return std::nullopt;
    const auto number = value.get<std::int64_t>();
    if (number < lowest || number > highest) return std::nullopt;
    return number;
}

ir::LayerReader::Integers integers_in(const json& value) {
    if (!value.is_array()) return {as_integer(value)};
    ir::LayerReader::Integers integers;
    for (const json& element : value) integers.push_back(as_integer(element));
    return integers;
}

}  // namespace

ir::ValueId GraphBuilder::add_file_constant(std::string name, const ir::Shape& shape, DataType type,
                                            ir::Constant contents) {
    file_numbers += shape.elements();
    return graph.add_constant(std::move(name), shape, type, std::move(contents));
}

void GraphBuilder::count_computed(const ir::Shape& shape) {
    // 256 MiB of float32. Networks of ONNX's own tests compute all their weights from shapes: ResNet-50's are
    // 25.6 million.
    constexpr std::uint64_t always_allowed = std::uint64_t{1} << 26U;
    // Weights may be dequantized, transposed and scaled, one after the other.
    constexpr std::uint64_t for_each_in_file = 8;
    const std::uint64_t most = always_allowed + for_each_in_file * file_numbers;
    computed_numbers += shape.elements();
    if (computed_numbers <= most) return;
    throw ModelError(
        fmt::format("with it, {} numbers would be computed while the network is read; there may be at most "
                    "{}, as the file holds {}",
                    computed_numbers, most, file_numbers));
}

LayerContext::LayerContext(GraphBuilder& builder, const ir::LayerKind& kind, const json& layer,
                           std::string name, std::vector<ir::ValueId> inputs, DataType stored_as,
                           std::vector<ir::ResultType> declared)
    : builder_(builder),
      kind_(kind),
      config_(layer, layer_place(name)),
      layer_name_(std::move(name)),
      name_(layer_name_),
      inputs_(std::move(inputs)),
      stored_as_(stored_as),
      declared_(std::move(declared)) {}

const char* LayerContext::listed(const char* key) const {
    if (std::ranges::find(kind_.keys, key, &ir::LayerKey::name) == kind_.keys.end()) {
        throw std::logic_error(fmt::format("layers of the kind {} do not list the key {}", kind_.name, key));
    }
    return key;
}

const json* LayerContext::find(const char* key) const {
    return config_.find(listed(key));
}

bool LayerContext::has(const char* key) const {
    return find(key) != nullptr;
}
std::uint32_t LayerContext::positive(const char* key, std::optional<std::uint32_t> absent) const {
    return config_.positive(listed(key), absent);
}
std::array<std::uint32_t, 2> LayerContext::positive_pair(
    const char* key, std::optional<std::array<std::uint32_t, 2>> absent) const {
    return config_.positive_pair(listed(key), absent);
}
bool LayerContext::boolean(const char* key, bool absent) const {
    // Keras takes numbers for truth, and so do its files.
    const json* const value = find(key);
    const auto number = value == nullptr ? std::nullopt : as_integer(*value);
    const bool is_truth = number && (*number == 0 || *number == 1);
    if (builder_.format == ir::Format::Keras && is_truth) return *number == 1;
    return config_.boolean(key, absent);
}
float LayerContext::number(const char* key, float absent) const {
    return config_.number(listed(key), absent);
}
std::string LayerContext::text(const char* key, std::string_view absent) const {
    return config_.text(listed(key), absent);
}

std::optional<ir::LayerReader::Integers> LayerContext::integers(const char* key) const {
    const json* const value = find(key);
    if (value == nullptr) return std::nullopt;
    return integers_in(*value);
}

ir::LayerReader::Integers LayerContext::integers_of(const char* key, std::size_t element) const {
    const json* const value = find(key);
    if (value == nullptr || !value->is_array()) return {};
    return integers_in(value->at(element));
}

std::optional<std::vector<double>> LayerContext::numbers(const char* key) const {
    const json* const value = find(key);
    if (value == nullptr) return std::nullopt;
    const json list = value->is_array() ? *value : json::array({*value});
    std::vector<double> numbers;
    for (const json& element : list) {
        if (!element.is_number()) config_.fail(key, "it must be a number or a list of numbers");
        numbers.push_back(element.get<double>());
    }
    return numbers;
}

std::optional<std::vector<std::string>> LayerContext::texts(const char* key) const {
    const json* const value = find(key);
    if (value == nullptr) return std::nullopt;
    const json list = value->is_array() ? *value : json::array({*value});
    std::vector<std::string> texts;
    for (const json& element : list) {
        if (!element.is_string()) config_.fail(key, "it must be a text or a list of texts");
        texts.push_back(element.get<std::string>());
    }
    return texts;
}

bool LayerContext::is_list(const char* key) const {
    const json* const value = find(key);
    return value != nullptr && value->is_array();
}
bool LayerContext::is_text(const char* key) const {
    const json* const value = find(key);
    return value != nullptr && value->is_string();
}
void LayerContext::require_number(const char* key, int only) const {
    config_.require_number(listed(key), only);
}
void LayerContext::require_text(const char* key, std::string_view only) const {
    config_.require_text(listed(key), only);
}
void LayerContext::require_last_axis(const char* key, bool flat) const {
    const auto axes = integers(key);
    const bool is_last = axes && axes->size() == 1 && !inputs_.empty() &&
                         axes->front() == builder_.graph.values[inputs_[0]].shape.rank() - 1;
    if (!is_last) config_.require_last_axis(key, flat);
}
void LayerContext::fail(const char* key, std::string_view rule) const {
    config_.fail(listed(key), rule);
}
void LayerContext::fail(std::string_view rule) const {
    config_.fail(rule);
}

ir::ValueId LayerContext::input() const {
    if (inputs_.size() != 1) {
        config_.fail(fmt::format("it has {}; it must have exactly 1", counted(inputs_.size(), "input")));
    }
    return present(inputs_[0]);
}

ir::ValueId LayerContext::present(ir::ValueId id) const {
    if (id == ir::no_value) config_.fail("one of its inputs is left out; it must be given");
    return id;
}

const ir::Value& LayerContext::value(ir::ValueId id) const {
    return builder_.graph.values[present(id)];
}

ir::ResultType LayerContext::declared_result(std::size_t index) const {
    if (index >= declared_.size()) {
        throw std::logic_error(fmt::format("the file declares no result {} of {}", index, name_));
    }
    return declared_[index];
}

ir::FeatureMap LayerContext::map_of(ir::ValueId id) const {
    try {
        return ir::feature_map(value(id).shape, value(id).constant ? 1 : batch());
    } catch (const ModelError& error) {
        config_.fail(error.what());
    }
}

void LayerContext::begin_part(std::string_view part) {
    name_ = part.empty() ? layer_name_ : fmt::format("{}/{}", layer_name_, part);
}

void LayerContext::begin_repeated_part(std::string_view part) {
    // Layers with one name in a file do not repeat each other.
    if (repeating_name_.empty()) {
        const std::uint32_t number = ++builder_.repeating_layers[layer_name_];
        repeating_name_ = number == 1 ? layer_name_ : fmt::format("{}#{}", layer_name_, number);
    }
    name_ = fmt::format("{}/{}", repeating_name_, part);
    if (builder_.repeated.insert(name_).second) builder_.graph.repeated.push_back(name_);
}

ir::ValueId LayerContext::weight(const ir::WeightRequest& request) {
    return builder_.add_file_constant(fmt::format("{}/{}", name_, request.roles.front()), request.shape,
                                      DataType::Float32, builder_.weights.provide(config_, name_, request));
}

ir::ValueId LayerContext::constant(std::string_view role, const ir::Shape& shape, std::vector<float> values) {
    count_computed(shape);
    return builder_.graph.add_constant(fmt::format("{}/{}", name_, role), shape, DataType::Float32,
                                       std::move(values));
}

ir::ValueId LayerContext::add_constant(std::string_view role, const ir::Shape& shape, DataType type,
                                       ir::Constant contents) {
    count_computed(shape);
    return builder_.graph.add_constant(fmt::format("{}/{}", name_, role), shape, type, std::move(contents));
}

ir::ValueId LayerContext::as_quantized(ir::ValueId id, const ir::Quantization& quantization) {
    ir::Value& value = builder_.graph.values[present(id)];
    if (value.quantization == quantization) return id;
    if (!is_integer(value.type)) {
        config_.fail(fmt::format("an input of integers is {}", name_of(value.type)));
    }
    for (const std::int32_t zero_point : quantization.zero_points) {
        if (zero_point >= lowest_of(value.type) && zero_point <= highest_of(value.type)) continue;
        config_.fail(
            fmt::format("a zero point is {}; it must be a number of {}", zero_point, name_of(value.type)));
    }
    if (quantization.axis && (*quantization.axis >= value.shape.rank() ||
                              value.shape[*quantization.axis] != quantization.scales.size())) {
        config_.fail(fmt::format("it has {} scales for axis {} of {}; it must have one for each index",
                                 quantization.scales.size(), *quantization.axis, to_text(value.shape)));
    }
    if (value.constant) {
        // Other nodes may read the same constant with another scale.
        ir::Value copy = value;
        copy.quantization = quantization;
        builder_.graph.values.push_back(std::move(copy));
        return static_cast<ir::ValueId>(builder_.graph.values.size() - 1);
    }
    if (value.quantization) {
        config_.fail(
            fmt::format("it reads {} with a scale of {} and a zero point of {}; where it is made they are {} "
                        "and {}",
                        in_quotes(value.name), quantization.scales.front(), quantization.zero_points.front(),
                        value.quantization->scales.front(), value.quantization->zero_points.front()));
    }
    value.quantization = quantization;
    return id;
}

std::vector<ir::ValueId> LayerContext::append_node(std::string_view op,
                                                   std::vector<ir::NamedAttribute> attributes,
                                                   std::vector<ir::ValueId> inputs,
                                                   std::vector<ir::ResultType> types) {
    ir::Graph& graph = builder_.graph;
    for (const ir::ValueId input : inputs) present(input);
    const bool has_types = !types.empty();
    graph.append(name_, builder_.operators.at(op), std::move(attributes), std::move(inputs), stored_as_,
                 std::move(types));
    std::vector<ir::ValueId> results = graph.nodes.back().outputs;
    if (!has_types) keep_scale(graph.nodes.back());
    count_results(graph.nodes.back());
    graph.fold_last_node();
    for (const ir::ValueId result : results) {
        const ir::Value& value = graph.values[result];
        if (value.constant || value.shape.elements() > 0) continue;
        config_.fail(fmt::format("its result is {}; each extent must be at least 1", to_text(value.shape)));
    }
    return results;
}

void LayerContext::keep_scale(const ir::Node& node) {
    // Files with scales apart from tensors name none where integers are only moved.
    if (builder_.format != ir::Format::Onnx || node.inputs.empty()) return;
    std::vector<ir::Value>& values = builder_.graph.values;
    const ir::Value& from = values[node.inputs.front()];
    if (!from.quantization || from.quantization->axis || !is_integer(from.type)) return;
    for (const ir::ValueId result : node.outputs) {
        if (values[result].type == from.type) values[result].quantization = from.quantization;
    }
}

void LayerContext::count_computed(const ir::Shape& shape) {
    try {
        builder_.count_computed(shape);
    } catch (const ModelError& error) {
        config_.fail(error.what());
    }
}

void LayerContext::count_results(const ir::Node& node) {
    const ir::NodeView view(builder_.graph, node);
    if (view.data_inputs() != 0) return;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) count_computed(view.output(i).shape);
}

ir::ValueId LayerContext::append_function(const char* key, ir::ValueId result) {
    const json* value = find(key);
    if (value == nullptr) return result;
    // Keras 3 may wrap a name: {"class_name": "function", "config": "relu"}. Or the function is a layer with
    // keys of its own: {"class_name": "LeakyReLU", "config": {"alpha": 0.1}}.
    const bool is_keras = builder_.format == ir::Format::Keras;
    if (is_keras && value->is_object() && value->contains("config")) {
        const json& inner = (*value)["config"];
        const json class_name = value->value("class_name", json());
        const ir::LayerKind* const kind =
            class_name.is_string() && inner.is_object()
                ? builder_.operators.find_layer(builder_.format, class_name.get_ref<const std::string&>())
                : nullptr;
        if (kind != nullptr) {
            LayerContext layer(builder_, *kind, inner, name_, {result}, stored_as_);
            return kind->build(layer).front();
        }
        value = &inner;
    }
    if (!value->is_string())
        config_.fail(key, is_keras ? "it must be the name of a function" : "it must be text");
    const auto name = value->get<std::string>();
    const auto function = builder_.operators.find_function(builder_.format, name);
    if (function.op == nullptr) {
        config_.fail(key, is_keras ? "this function is not supported: docs/operators.md lists those that are"
                                   : one_of(name, builder_.operators.function_names(builder_.format)));
    }
    if (function.op->name() == "identity") return result;
    return append(function.op->name(), function.name->attributes, {result});
}

ir::ValueId LayerContext::add_input(const ir::Shape& shape) {
    if (!inputs_.empty()) config_.fail("it is an input of the model; it must have no inputs itself");
    return builder_.graph.add_input(name_, shape, stored_as_);
}

double LayerContext::drawn_gain() const {
    if (builder_.format != ir::Format::GraphJson) return 1.0;
    return config_.text("activation", "linear") == "relu" ? 2.0 : 1.0;
}

}  // namespace systole::frontend
