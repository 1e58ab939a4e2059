#pragma once

#include <nlohmann/json.hpp>
#include <string>

/// Command lines that a user can copy into a shell.
namespace systole::sweep {

/// A word as the shell takes it: in quotes if it must be.
std::string shell_word(const std::string& word);

/// JSON in one line. Paths in it may be no UTF-8: what is not becomes the character for that.
std::string json_text(const nlohmann::ordered_json& value);

/// " --set KEY=VALUE".
std::string set_option(const std::string& key, const nlohmann::json& value);

}  // namespace systole::sweep
