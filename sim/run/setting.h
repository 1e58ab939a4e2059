#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace systole::run {

/// One key of a configuration and what it is set to, over what the file says.
struct Setting {
    std::string key;  ///< dotted: "batch", "machine.matrix_unit.rows"
    nlohmann::json value;
};

/// "KEY=VALUE". The value is JSON where it can be read as such (512, true, ["a", "b"]) and text
/// otherwise. Throws ConfigError where there is no key.
Setting parse_setting(std::string_view text);

/// Sets the key in the object, making the objects on the way to it. `file` leads the messages. Throws
/// ConfigError where something on the way is no object.
void apply(const Setting& setting, nlohmann::json& object, const std::string& file);

}  // namespace systole::run
