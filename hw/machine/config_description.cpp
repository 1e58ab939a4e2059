#include "hw/machine/config_description.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/user_error.h"
#include "hw/machine/config_error.h"

namespace systole::machine {

using Type = KeyDescription::Type;

KeyDescription& ConfigDescriber::add(const Field& field, Type type) {
    KeyDescription key;
    key.name = field.key;
    key.type = type;
    key.unit = field.unit;
    key.meaning = field.meaning;
    key.needed = field.needed;
    key.if_absent = field.if_absent;
    key.rule = field.rule;
    keys_.push_back(std::move(key));
    return keys_.back();
}

// A value that a file could not give stands for "not known", "none": it is no default to be shown.

void ConfigDescriber::whole_number(const Field& field, std::uint64_t value, Range range) {
    KeyDescription& key = add(field, Type::WholeNumber);
    key.range = range;
    if (value >= range.least && value <= range.most) key.value_if_absent = value;
}

void ConfigDescriber::field(const Field& field, const double& value, RealRange range) {
    KeyDescription& key = add(field, Type::Number);
    key.real_range = range;
    if (value >= range.least && value <= range.most) key.value_if_absent = value;
}

void ConfigDescriber::field(const Field& field, const std::optional<double>& value, RealRange range) {
    KeyDescription& key = add(field, Type::Number);
    key.real_range = range;
    if (value) key.value_if_absent = *value;
}

void ConfigDescriber::field(const Field& field, const bool& value) {
    add(field, Type::Switch).value_if_absent = value;
}

void ConfigDescriber::field(const Field& field, const std::string& value) {
    KeyDescription& key = add(field, Type::Text);
    if (!value.empty()) key.value_if_absent = value;
}

void ConfigDescriber::field(const Field& field, const std::vector<std::string>& value) {
    KeyDescription& key = add(field, Type::ListOfTexts);
    if (!value.empty()) key.value_if_absent = value;
}

void ConfigDescriber::field(const Field& field, const std::vector<double>& value, RealRange range) {
    KeyDescription& key = add(field, Type::ListOfNumbers);
    key.real_range = range;
    if (!value.empty()) key.value_if_absent = value;
}

void ConfigDescriber::texts(const Field& field, const std::map<std::string, std::string>& value) {
    KeyDescription& key = add(field, Type::TextsByName);
    if (!value.empty()) key.value_if_absent = value;
}

void ConfigDescriber::values(const Field& field, const std::map<std::string, nlohmann::json>& value) {
    KeyDescription& key = add(field, Type::ValuesByName);
    if (!value.empty()) key.value_if_absent = value;
}

void check_known(std::string_view dotted, std::span<const KeyDescription> keys, const std::string& file) {
    std::string_view rest = dotted;
    while (!rest.empty()) {
        const std::string_view name = rest.substr(0, rest.find('.'));
        rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        const auto found = std::ranges::find(keys, name, &KeyDescription::name);
        const bool is_whole = rest.empty();
        if (found != keys.end() &&
            (is_whole || found->type == Type::TextsByName || found->type == Type::ValuesByName))
            return;
        if (found == keys.end() || found->type != Type::Section) {
            std::vector<std::string> known;
            for (const KeyDescription& key : keys) known.push_back(key.name);
            throw ConfigError(fmt::format("{}: {} is not a known key{}", file, dotted,
                                          found == keys.end() ? suggestion(name, known) : ""));
        }
        keys = found->keys;
    }
}

}  // namespace systole::machine
