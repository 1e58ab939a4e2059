#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace systole::frontend {

/// Replaces Python values that Keras wraps into objects ({"class_name": "__tuple__", "items": [...]}) by the
/// plain values in them, at any depth.
void unwrap_values(nlohmann::json& value);

/// Gives a layer of Keras 1 the class and the keys that it has in Keras 2, and functions that mean something
/// else from Keras 3 on their names in this project. Others stay as they are. Throws ModelError, without the
/// layer's name, for a layer that Keras 2 does not have.
void modernize(std::string& class_name, nlohmann::json& config, int major_version);

/// Whether a layer is a function of TensorFlow or of Keras 3, which Keras makes of expressions like x / 255.
bool is_function(std::string_view class_name);

/// Gives a function the class and the keys of the layer that does the same, if there is one. Others keep a
/// name that no layer has. `arguments` are those beside the inputs, the second one as "y". Throws ModelError,
/// without the layer's name, for arguments that have no meaning.
void modernize_function(std::string& class_name, nlohmann::json& config, const nlohmann::json& arguments,
                        std::size_t inputs);

}  // namespace systole::frontend
