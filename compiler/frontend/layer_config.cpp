#include "compiler/frontend/layer_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/message_text.h"
#include "base/user_error.h"
#include "compiler/frontend/text_values.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {

using nlohmann::json;

std::string layer_place(std::string_view name) {
    return fmt::format("layer {}", in_quotes(name));
}

std::string one_of(std::string_view word, const std::vector<std::string>& known) {
    if (!nearest(word, known).empty()) return "there is no such name" + suggestion(word, known);
    return fmt::format("it must be one of {}", joined(known));
}

const json* LayerConfig::find(const char* key) const {
    if (std::ranges::find(asked_, key) == asked_.end()) asked_.emplace_back(key);
    const auto found = config_.find(key);
    return found == config_.end() || found->is_null() ? nullptr : &*found;
}

const json& LayerConfig::any_of(std::initializer_list<const char*> keys) const {
    for (const char* const key : keys) {
        if (const json* const value = find(key)) return *value;
    }
    fail(*keys.begin(), "it must be given");
}

void LayerConfig::fail(const char* key, std::string_view rule) const {
    const json* const value = find(key);
    fail(value == nullptr ? fmt::format("{} is absent; {}", key, rule)
                          : fmt::format("{} is {}; {}", key, describe(*value), rule));
}

void LayerConfig::fail(std::string_view rule) const {
    throw ModelError(place_.empty() ? std::string(rule) : fmt::format("{}: {}", place_, rule));
}

void LayerConfig::reject_unknown_keys() const {
    for (const auto& [key, value] : config_.items()) {
        if (std::ranges::find(asked_, key) != asked_.end()) continue;
        fail(fmt::format("{} is {}; it is not a known key{}", in_quotes(key), describe(value),
                         suggestion(key, asked_)));
    }
}

std::uint32_t LayerConfig::positive(const char* key, std::optional<std::uint32_t> absent) const {
    const json* const value = find(key);
    if (value == nullptr && absent) return *absent;
    const auto number = value == nullptr ? std::nullopt : as_unsigned(*value);
    if (!number || *number == 0) fail(key, "it must be an integer from 1 to 4294967295");
    return *number;
}

std::array<std::uint32_t, 2> LayerConfig::positive_pair(
    const char* key, std::optional<std::array<std::uint32_t, 2>> absent) const {
    const json* const value = find(key);
    if (value == nullptr && absent) return *absent;
    if (value == nullptr || !value->is_array()) {
        const std::uint32_t both = positive(key);
        return {both, both};
    }
    if (value->size() != 2) fail(key, "it must have 2 entries");
    std::array<std::uint32_t, 2> pair{};
    for (std::size_t i = 0; i < pair.size(); ++i) {
        const auto number = as_unsigned((*value)[i]);
        if (!number || *number == 0) fail(key, "each must be an integer from 1 to 4294967295");
        pair[i] = *number;
    }
    return pair;
}

bool LayerConfig::boolean(const char* key, bool absent) const {
    const json* const value = find(key);
    if (value == nullptr) return absent;
    if (!value->is_boolean()) fail(key, "it must be true or false");
    return value->get<bool>();
}

float LayerConfig::number(const char* key, float absent) const {
    const json* const value = find(key);
    if (value == nullptr) return absent;
    if (!value->is_number()) fail(key, "it must be a number");
    const double number = value->get<double>();
    if (std::abs(number) > double{std::numeric_limits<float>::max()}) fail(key, "it is too large");
    return static_cast<float>(number);
}

std::string LayerConfig::text(const char* key, std::string_view absent) const {
    const json* const value = find(key);
    if (value == nullptr) return std::string(absent);
    if (!value->is_string()) fail(key, "it must be text");
    return value->get<std::string>();
}

void LayerConfig::require_number(const char* key, int only) const {
    const json* const value = find(key);
    if (value == nullptr) return;
    const bool holds = value->is_array()
                           ? std::ranges::all_of(*value, [&](const json& one) { return one == only; })
                           : *value == only;
    if (!holds) fail(key, fmt::format("only {} is supported", only));
}

void LayerConfig::require_text(const char* key, std::string_view only) const {
    const json* const value = find(key);
    if (value != nullptr && *value != only) fail(key, fmt::format("only \"{}\" is supported", only));
}

void LayerConfig::require_last_axis(const char* key, bool flat) const {
    const json* value = find(key);
    if (value == nullptr) return;
    if (value->is_array() && value->size() == 1) value = &(*value)[0];
    constexpr int last_of_image = 3;  // after batch, height and width
    const auto is = [&](int axis) { return *value == axis; };
    if (is(-1) || is(last_of_image) || (flat && is(1))) return;
    fail(key, "only the last axis is supported");
}

}  // namespace systole::frontend
