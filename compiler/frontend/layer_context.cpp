#include "compiler/frontend/layer_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"

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

LayerContext::LayerContext(GraphBuilder& builder, const ir::LayerKind& kind, const json& layer,
                           std::string name, std::vector<ir::ValueId> inputs, DataType stored_as)
    : builder_(builder),
      kind_(kind),
      config_(layer, layer_place(name)),
      name_(std::move(name)),
      inputs_(std::move(inputs)),
      stored_as_(stored_as) {}

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
    return config_.boolean(listed(key), absent);
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
    config_.require_last_axis(listed(key), flat);
}
void LayerContext::fail(const char* key, std::string_view rule) const {
    config_.fail(listed(key), rule);
}
void LayerContext::fail(std::string_view rule) const {
    config_.fail(rule);
}

ir::ValueId LayerContext::input() const {
    if (inputs_.size() != 1) {
        config_.fail(fmt::format("it has {}; it must have exactly 1", ir::counted(inputs_.size(), "input")));
    }
    return inputs_[0];
}

ir::FeatureMap LayerContext::map_of(ir::ValueId value) const {
    return ir::feature_map(builder_.graph.values[value].shape);
}

ir::ValueId LayerContext::weight(const ir::WeightRequest& request) {
    return builder_.graph.add_constant(fmt::format("{}/{}", name_, request.roles.front()), request.shape,
                                       DataType::Float32, builder_.weights.provide(config_, name_, request));
}

ir::ValueId LayerContext::constant(std::string_view role, const ir::Shape& shape, std::vector<float> values) {
    return builder_.graph.add_constant(fmt::format("{}/{}", name_, role), shape, DataType::Float32,
                                       std::move(values));
}

ir::ValueId LayerContext::append(std::string_view op, std::vector<ir::NamedAttribute> attributes,
                                 std::vector<ir::ValueId> inputs) {
    return builder_.graph.append(name_, builder_.operators.at(op), std::move(attributes), std::move(inputs),
                                 stored_as_);
}

ir::ValueId LayerContext::append_function(const char* key, ir::ValueId result) {
    const json* value = find(key);
    if (value == nullptr) return result;
    // Keras 3 may wrap a name: {"class_name": "function", "config": "relu"}.
    const bool is_keras = builder_.format == ir::Format::Keras;
    if (is_keras && value->is_object() && value->contains("config")) value = &(*value)["config"];
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
