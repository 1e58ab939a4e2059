#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace systole::run {

/// A value for one key of a configuration, which replaces the value of the file.
struct Setting {
    std::string key;  ///< dotted: "batch", "machine.matrix_unit.rows"
    nlohmann::json value;
};

/// Reads "KEY=VALUE". The value is JSON if it can be parsed as such (512, true, ["a", "b"]) and text
/// otherwise. Throws ConfigError if the key is missing.
Setting parse_setting(std::string_view text);

/// Sets the key in the object and creates missing objects on its path. `file` leads the messages. Throws
/// ConfigError if a value on the path is not an object.
void apply(const Setting& setting, nlohmann::json& object, const std::string& file);

}  // namespace systole::run
