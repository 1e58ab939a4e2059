#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "compiler/frontend/tflite/tensors.h"

/// Operators with states: variables that are 0 before the first call. A network is called once, so only their
/// quantization counts.
namespace systole::frontend::tflite {

/// Whether this input of an operator is a state.
bool is_state(std::string_view op, std::size_t input);

/// Adds what an operator with states needs besides its options: lists with the scale and the zero point of
/// each state ("state_scale", "state_zero_point") and of each tensor between its inputs and its result
/// ("intermediate_scale", "intermediate_zero_point"). The scale is 0 for tensors without quantization. Adds
/// nothing for other operators. Throws ModelError if a state is missing.
void add_state_options(const File& file, const Operator& node, std::string_view op, nlohmann::json& options);

}  // namespace systole::frontend::tflite
