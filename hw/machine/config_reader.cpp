#include "hw/machine/config_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/input_file.h"
#include "base/json_text.h"
#include "base/user_error.h"
#include "hw/machine/config_error.h"

namespace systole::machine {

namespace {

/// A value in a message; long values are truncated.
std::string shown(const nlohmann::json& value) {
    constexpr std::size_t longest = 40;
    std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    if (text.size() > longest) text = text.substr(0, longest) + "...";
    return text;
}

template <typename Json>
Json parse(std::string_view text, const std::string& file) {
    constexpr std::size_t deepest = 32;
    try {
        Json object = parse_json<Json>(text, deepest);
        if (object.is_object()) return object;
        throw JsonError(fmt::format("is {}; a JSON object is needed", shown(object)));
    } catch (const JsonError& error) {
        throw ConfigError(fmt::format("{}: {}", file, error.what()));
    }
}

}  // namespace

std::string read_json_text(const std::filesystem::path& path) {
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30U;
    return read_input_file<ConfigError>(path, most_bytes);
}

nlohmann::json read_json_object(const std::filesystem::path& path) {
    return parse_json_object(read_json_text(path), path.string());
}

nlohmann::json parse_json_object(std::string_view text, const std::string& file) {
    return parse<nlohmann::json>(text, file);
}

nlohmann::ordered_json parse_ordered_json_object(std::string_view text, const std::string& file) {
    return parse<nlohmann::ordered_json>(text, file);
}

ConfigReader::ConfigReader(const nlohmann::json& object, std::string file, std::string path)
    : object_(object), file_(std::move(file)), path_(std::move(path)) {
    if (!object_.is_object()) {
        throw ConfigError(fmt::format("{}: {} is {}; an object is needed", file_, path_, shown(object_)));
    }
}

std::string ConfigReader::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void ConfigReader::fail(std::string_view key, std::string_view rule) const {
    const auto found = object_.find(std::string(key));
    throw ConfigError(fmt::format("{}: {} is {}; {}", file_, path_of(key),
                                  found == object_.end() ? "missing" : shown(*found), rule));
}

const nlohmann::json* ConfigReader::find(const Field& field) {
    known_.emplace_back(field.key);
    const auto found = object_.find(std::string(field.key));
    if (found != object_.end()) return &*found;
    if (field.needed) missing_.emplace_back(field.key);
    return nullptr;
}

const nlohmann::json* ConfigReader::find_object(const Field& field) {
    const nlohmann::json* value = find(field);
    if (value != nullptr && !value->is_object()) fail(field.key, "an object is needed");
    return value;
}

const nlohmann::json* ConfigReader::find_list(const Field& field) {
    const nlohmann::json* value = find(field);
    if (value != nullptr && !value->is_array()) fail(field.key, "it must be a list of objects");
    return value;
}

void ConfigReader::check_schema(std::string_view schema) {
    const nlohmann::json* value = find({.key = "schema"});
    if (value == nullptr || *value != schema) fail("schema", fmt::format("it must be \"{}\"", schema));
}

std::uint64_t ConfigReader::whole_number(const Field& field, const nlohmann::json& value, Range range) const {
    const std::string rule = fmt::format("it must be a whole number from {} to {}{}{}", range.least,
                                         range.most, field.unit.empty() ? "" : " ", field.unit);
    const bool negative =
        value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() < 0;
    if (!value.is_number_integer() || negative) fail(field.key, rule);
    const auto number = value.get<std::uint64_t>();
    if (number < range.least || number > range.most) fail(field.key, rule);
    return number;
}

void ConfigReader::field(const Field& field, std::uint32_t& value, Range range) {
    range.most = std::min<std::uint64_t>(range.most, std::numeric_limits<std::uint32_t>::max());
    if (const auto* found = find(field))
        value = static_cast<std::uint32_t>(whole_number(field, *found, range));
}

void ConfigReader::field(const Field& field, std::uint64_t& value, Range range) {
    if (const auto* found = find(field)) value = whole_number(field, *found, range);
}

void ConfigReader::field(const Field& field, double& value, RealRange range) {
    const auto* found = find(field);
    if (found == nullptr) return;
    const std::string rule = fmt::format("it must be a number from {} to {}{}{}", range.least, range.most,
                                         field.unit.empty() ? "" : " ", field.unit);
    if (!found->is_number()) fail(field.key, rule);
    const auto number = found->get<double>();
    if (!std::isfinite(number) || number < range.least || number > range.most) fail(field.key, rule);
    value = number;
}

void ConfigReader::field(const Field& field, std::optional<double>& value, RealRange range) {
    double number = 0.0;
    this->field(field, number, range);
    if (has(field.key)) value = number;
}

void ConfigReader::field(const Field& field, bool& value) {
    const auto* found = find(field);
    if (found == nullptr) return;
    if (!found->is_boolean()) fail(field.key, "it must be true or false");
    value = found->get<bool>();
}

void ConfigReader::field(const Field& field, std::string& value) {
    const auto* found = find(field);
    if (found == nullptr) return;
    if (!found->is_string()) fail(field.key, "it must be a text in quotes");
    value = found->get<std::string>();
}

void ConfigReader::field(const Field& field, std::vector<std::string>& value) {
    const auto* found = find(field);
    if (found == nullptr) return;
    value.clear();
    if (found->is_string()) {
        value.push_back(found->get<std::string>());
        return;
    }
    if (!found->is_array()) fail(field.key, "it must be a list of texts");
    for (const auto& element : *found) {
        if (!element.is_string()) fail(field.key, "it must be a list of texts");
        value.push_back(element.get<std::string>());
    }
}

void ConfigReader::field(const Field& field, std::vector<double>& value, RealRange range) {
    const auto* found = find(field);
    if (found == nullptr) return;
    const std::string rule =
        fmt::format("it must be a list of numbers from {} to {}", range.least, range.most);
    const auto number = [&](const nlohmann::json& element) {
        if (!element.is_number()) fail(field.key, rule);
        const auto given = element.get<double>();
        if (!std::isfinite(given) || given < range.least || given > range.most) fail(field.key, rule);
        return given;
    };
    value.clear();
    if (found->is_number()) {
        value.push_back(number(*found));
        return;
    }
    if (!found->is_array()) fail(field.key, rule);
    for (const auto& element : *found) value.push_back(number(element));
}

void ConfigReader::texts(const Field& field, std::map<std::string, std::string>& value) {
    const auto* found = find_object(field);
    if (found == nullptr) return;
    for (const auto& [key, text] : found->items()) {
        if (!text.is_string())
            fail(field.key, fmt::format("the value of \"{}\" must be a text in quotes", key));
        value[key] = text.get<std::string>();
    }
}

void ConfigReader::values(const Field& field, std::map<std::string, nlohmann::json>& value) {
    const auto* found = find_object(field);
    if (found == nullptr) return;
    for (const auto& [key, any] : found->items()) value[key] = any;
}

void ConfigReader::read_choice(const Field& field, std::size_t& index,
                               std::span<const std::string_view> names) {
    const auto* found = find(field);
    if (found == nullptr) return;
    if (found->is_string()) {
        const auto chosen = std::find(names.begin(), names.end(), found->get<std::string>());
        if (chosen != names.end()) {
            index = static_cast<std::size_t>(chosen - names.begin());
            return;
        }
    }
    fail(field.key, fmt::format("it must be one of \"{}\"", fmt::join(names, "\", \"")));
}

void ConfigReader::check_keys() const {
    for (const auto& [key, value] : object_.items()) {
        if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
        fail(key, "it is not a known key" + suggestion(key, known_));
    }
    for (const std::string& key : missing_) require(key);
}

void ConfigReader::require(std::string_view key) const {
    if (!has(key)) fail(key, "it is needed");
}

}  // namespace systole::machine
