#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/machine/config_fields.h"

namespace systole::machine {

/// The description of a configuration key, for reference pages and schemas.
struct KeyDescription {
    enum class Type : std::uint8_t {
        WholeNumber,
        Number,
        Switch,
        Text,
        ListOfTexts,    ///< or one text
        ListOfNumbers,  ///< or one number
        Choice,
        Section,      ///< an object of keys
        Sections,     ///< a list of such objects
        TextsByName,  ///< an object of texts, under any names
        ValuesByName  ///< an object of values of any type, under any names
    };

    std::string name;
    Type type = Type::Text;
    std::string unit;
    std::string meaning;
    bool needed = false;
    nlohmann::ordered_json
        value_if_absent;                  ///< null if the default is no value; then `if_absent` describes it
    std::string if_absent;                ///< in words, or empty
    std::string rule;                     ///< beyond the range, such as a relation to other keys; or empty
    std::optional<Range> range;           ///< of a whole number
    std::optional<RealRange> real_range;  ///< of a number, or of each of several
    std::vector<std::string> choices;
    std::vector<KeyDescription> keys;  ///< of a section, or of each of several
};

/// The visitor that lists every key of a structure, in the order in which ConfigReader reads them.
class ConfigDescriber {
public:
    void field(const Field& field, const std::uint32_t& value, Range range) {
        whole_number(field, value, range);
    }
    void field(const Field& field, const std::uint64_t& value, Range range) {
        whole_number(field, value, range);
    }
    void field(const Field& field, const double& value, RealRange range);
    void field(const Field& field, const std::optional<double>& value, RealRange range);
    void field(const Field& field, const bool& value);
    void field(const Field& field, const std::string& value);
    void field(const Field& field, const std::vector<std::string>& value);
    void field(const Field& field, const std::vector<double>& value, RealRange range);
    template <class Enum>
    void choice(const Field& field, const Enum& value, std::span<const std::string_view> names) {
        KeyDescription& key = add(field, KeyDescription::Type::Choice);
        key.choices.assign(names.begin(), names.end());
        key.value_if_absent = names[static_cast<std::size_t>(value)];
    }
    template <class Enum>
    void usual_choice(const Field& field, const Enum& value, std::span<const std::string_view> names) {
        choice(field, value, names);
    }
    template <class Config>
    void section(const Field& field, Config& config) {
        ConfigDescriber inside;
        describe(inside, config);
        add(field, KeyDescription::Type::Section).keys = std::move(inside.keys_);
    }
    template <class Config>
    void section(const Field& field, std::optional<Config>& config) {
        Config one = config.value_or(Config());
        section(field, one);
    }
    template <class Config>
    void sections(const Field& field, std::vector<Config>& /*configs*/) {
        Config one;
        ConfigDescriber inside;
        describe(inside, one);
        add(field, KeyDescription::Type::Sections).keys = std::move(inside.keys_);
    }
    void texts(const Field& field, const std::map<std::string, std::string>& value);
    void values(const Field& field, const std::map<std::string, nlohmann::json>& value);
    template <class Visit>
    void only_where(bool holds, const Field& field, std::string_view rule, const Visit& visit) {
        static_cast<void>(holds);  // the key exists in some files
        visit(field);
        keys_.back().rule = rule;
    }

    std::vector<KeyDescription> keys() && { return std::move(keys_); }

private:
    KeyDescription& add(const Field& field, KeyDescription::Type type);
    void whole_number(const Field& field, std::uint64_t value, Range range);

    std::vector<KeyDescription> keys_;
};

/// The keys of a file that `describe(visitor, config)` reads.
template <class Config>
std::vector<KeyDescription> keys_of() {
    Config config;
    ConfigDescriber describer;
    describe(describer, config);
    return std::move(describer).keys();
}

/// Throws ConfigError, beginning with `file`, unless the dotted key ("weight_memory.model") is one of `keys`,
/// a section of them, or a text in one.
void check_known(std::string_view dotted, std::span<const KeyDescription> keys, const std::string& file);

}  // namespace systole::machine
