#pragma once

#include <string>

#include "hw/machine/config_description.h"

/// The texts about a key on the page and the terminal.
namespace systole::schema {

/// The default of the key: a value, words, "needed" or "-".
std::string default_text(const machine::KeyDescription& key);
/// The valid values: "1 to 4096", "true or false", "wavefront or pe".
std::string values_text(const machine::KeyDescription& key);
/// The sentence of the key, and its rule with other keys.
std::string meaning_text(const machine::KeyDescription& key);

}  // namespace systole::schema
