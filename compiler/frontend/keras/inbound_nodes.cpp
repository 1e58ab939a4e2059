#include "compiler/frontend/keras/inbound_nodes.h"

#include <fmt/format.h>

#include "compiler/frontend/json_values.h"
#include "compiler/frontend/keras/model_config.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

using nlohmann::json;

/// ["name", node, tensor, ...]: a result of a layer.
bool is_tensor(const json& value) {
    return value.is_array() && value.size() >= 3 && value[0].is_string();
}

std::string layer_of(const json& tensor, const std::string& place) {
    if (!is_tensor(tensor) || tensor[1] != 0 || tensor[2] != 0) {
        throw ModelError(
            fmt::format("{} reads {}; it must read the first result of a layer", place, describe(tensor)));
    }
    if (tensor.size() > 3 && !tensor[3].empty()) {
        throw ModelError(
            fmt::format("{} is called with arguments beside its inputs; that is not supported", place));
    }
    return tensor[0].get<std::string>();
}

bool is_keras_tensor(const json& value) {
    return value.is_object() && value.value("class_name", json()) == "__keras_tensor__";
}

std::string layer_of_keras_tensor(const json& tensor, const std::string& place) {
    const json config = is_keras_tensor(tensor) ? tensor.value("config", json()) : json();
    const json history = config.is_object() ? config.value("keras_history", json()) : json();
    return layer_of(history, place);
}

std::vector<std::string> keras3_layers(const json& call, const std::string& place) {
    std::vector<std::string> layers;
    const json arguments = call.value("args", json());
    for (const json& argument : arguments) {
        if (is_keras_tensor(argument)) {
            layers.push_back(layer_of_keras_tensor(argument, place));
            continue;
        }
        if (!argument.is_array()) {
            throw ModelError(
                fmt::format("{} is called with {}; only tensors are supported", place, describe(argument)));
        }
        for (const json& element : argument) layers.push_back(layer_of_keras_tensor(element, place));
    }
    const json options = call.value("kwargs", json::object());
    for (const auto& [key, value] : options.items()) {
        if (value.is_structured() && !value.empty())
            throw ModelError(
                fmt::format("{} is called with {}; that is not supported", place, describe(key)));
    }
    return layers;
}

}  // namespace

std::vector<std::string> inbound_layers(const json& inbound_nodes, const std::string& place) {
    if (!inbound_nodes.is_array()) {
        throw ModelError(
            fmt::format("{}: inbound_nodes is {}; it must be a list", place, describe(inbound_nodes)));
    }
    if (inbound_nodes.empty()) return {};
    if (inbound_nodes.size() > 1) {
        throw ModelError(fmt::format("{} is applied {} times; sharing a layer is not supported", place,
                                     inbound_nodes.size()));
    }
    const json& call = inbound_nodes[0];
    if (call.is_object()) return keras3_layers(call, place);
    if (is_tensor(call)) return {layer_of(call, place)};
    std::vector<std::string> layers;
    for (const json& tensor : call) layers.push_back(layer_of(tensor, place));
    return layers;
}

std::string only_tensor(const json& tensors, const std::string& key) {
    const std::string place = fmt::format("model_config: {}", key);
    if (is_tensor(tensors)) return layer_of(tensors, place);
    if (!tensors.is_array() || tensors.size() != 1) {
        throw ModelError(fmt::format("{} has {} entries; models must have exactly 1", place, tensors.size()));
    }
    return layer_of(tensors[0], place);
}

}  // namespace systole::frontend
