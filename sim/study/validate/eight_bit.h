#pragma once

#include <nlohmann/json.hpp>

namespace systole::validate {

/// The network, as its file describes it, with 8-bit activations everywhere.
nlohmann::json with_8_bit_activations(nlohmann::json network);

}  // namespace systole::validate
