#pragma once

#include <string>

#include "hw/machine/config_description.h"

/// What the page and the terminal say of a key.
namespace systole::schema {

/// What holds where the key is not given: a value, words, "needed" or "-".
std::string default_text(const machine::KeyDescription& key);
/// Values that it takes: "1 to 4096", "true or false", "wavefront or pe".
std::string values_text(const machine::KeyDescription& key);
/// Its sentence, and the rule it keeps with others.
std::string meaning_text(const machine::KeyDescription& key);

}  // namespace systole::schema
