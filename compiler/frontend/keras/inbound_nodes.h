#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace systole::frontend {

/// The names of the layers that a layer of a functional model reads, in order. Keras 2 writes
/// [[["conv2d", 0, 0, {}], ...]], Keras 3 [{"args": [tensor or list of tensors], "kwargs": {}}].
/// Throws ModelError where a layer is applied more than once or reads anything but first results.
/// `place` names the layer in messages.
std::vector<std::string> inbound_layers(const nlohmann::json& inbound_nodes, const std::string& place);

/// The layer of the one tensor in "input_layers" or "output_layers": [["name", 0, 0]] or ["name", 0, 0].
std::string only_tensor(const nlohmann::json& tensors, const std::string& key);

}  // namespace systole::frontend
