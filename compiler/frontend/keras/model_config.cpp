#include "compiler/frontend/keras/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/frontend/text_values.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"

namespace systole::frontend {
namespace {

using nlohmann::json;

/// Whether a value is a result of a layer: ["name", node, tensor, ...].
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

/// The names of the layers that a layer of a functional model reads, in order. Keras 2 writes
/// [[["conv2d", 0, 0, {}], ...]], Keras 3 [{"args": [tensor or list of tensors], "kwargs": {}}].
/// Throws ModelError if a layer is applied more than once or reads anything but first results. `place` is the
/// layer in messages.
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

/// The layer of the one tensor in "input_layers" or "output_layers": [["name", 0, 0]] or ["name", 0, 0].
std::string only_tensor(const json& tensors, const std::string& key) {
    const std::string place = fmt::format("model_config: {}", key);
    if (is_tensor(tensors)) return layer_of(tensors, place);
    if (!tensors.is_array() || tensors.size() != 1) {
        throw ModelError(fmt::format("{} has {} entries; models must have exactly 1", place, tensors.size()));
    }
    return layer_of(tensors[0], place);
}

const json& member(const json& object, const char* key, const std::string& place) {
    if (!object.is_object())
        throw ModelError(fmt::format("{} is {}; it must be an object", place, describe(object)));
    const auto found = object.find(key);
    if (found == object.end()) throw ModelError(fmt::format("{} has no \"{}\"", place, key));
    return *found;
}

const std::string& text_member(const json& object, const char* key, const std::string& place) {
    const json& value = member(object, key, place);
    if (!value.is_string()) {
        throw ModelError(fmt::format("{}: {} is {}; it must be text", place, key, describe(value)));
    }
    return value.get_ref<const std::string&>();
}

const json& layer_list(const json& value) {
    if (!value.is_array() || value.empty()) {
        throw ModelError(
            fmt::format("model_config: layers is {}; it must be a list of at least one", describe(value)));
    }
    return value;
}

KerasLayer parse_layer(const json& description, std::size_t position) {
    const std::string place = fmt::format("model_config: layer {}", position);
    KerasLayer layer;
    layer.class_name = text_member(description, "class_name", place);
    layer.config = member(description, "config", place);
    const json& named = description.contains("name") ? description : layer.config;
    layer.name = text_member(named, "name", place);
    if (layer.name.empty() || ir::quoted(layer.name).size() != layer.name.size() + 2) {
        throw ModelError(
            fmt::format("{}: its name is {}; it must be short and printable", place, ir::quoted(layer.name)));
    }
    if (layer.config.contains("layers")) {
        throw ModelError(fmt::format("layer {} is a model of its own ({}); nested models are not supported",
                                     ir::quoted(layer.name), ir::quoted(layer.class_name)));
    }
    return layer;
}

/// Adds the input that old Sequential models leave out; its shape is in the first layer or beside the list.
void supply_input(std::vector<KerasLayer>& layers, const json& config) {
    if (layers[0].class_name == "InputLayer") return;
    const json& first = layers[0].config;
    KerasLayer input{
        .class_name = "InputLayer", .name = layers[0].name + "_input", .config = {}, .inputs = {}};
    for (const auto& [holder, key] :
         {std::pair(&first, "batch_input_shape"), std::pair(&first, "batch_shape"),
          std::pair(&config, "build_input_shape")}) {
        if (!holder->is_object() || !holder->contains(key)) continue;
        input.config["batch_shape"] = (*holder)[key];
        layers.insert(layers.begin(), std::move(input));
        return;
    }
    throw ModelError(fmt::format("layer {}: it has no \"batch_input_shape\"; the first layer must have one",
                                 ir::quoted(layers[0].name)));
}

KerasModelConfig parse_sequential(const json& config) {
    const json& descriptions =
        layer_list(config.is_array() ? config : member(config, "layers", "model_config"));
    KerasModelConfig model;
    for (const json& description : descriptions) {
        model.layers.push_back(parse_layer(description, model.layers.size()));
    }
    supply_input(model.layers, config);
    for (std::size_t i = 1; i < model.layers.size(); ++i) model.layers[i].inputs = {i - 1};
    return model;
}

/// The layers in an order in which each comes after its inputs, beginning with the input.
class TopologicalOrder {
public:
    explicit TopologicalOrder(const std::vector<KerasLayer>& layers)
        : layers_(layers), states_(layers.size(), State::Unseen) {}

    std::vector<std::size_t> leading_to(std::size_t output) {
        // Depth first without recursion: a file may describe a chain of any length.
        std::vector<Visit> path{{output, 0}};
        states_[output] = State::OnPath;
        while (!path.empty()) {
            auto& [layer, next_input] = path.back();
            if (next_input == layers_[layer].inputs.size()) {
                states_[layer] = State::Done;
                order_.push_back(layer);
                path.pop_back();
                continue;
            }
            const std::size_t input = layers_[layer].inputs[next_input++];
            if (states_[input] == State::OnPath) {
                throw ModelError(
                    fmt::format("layer {}: it depends on its own result", ir::quoted(layers_[input].name)));
            }
            if (states_[input] == State::Done) continue;
            states_[input] = State::OnPath;
            path.push_back({input, 0});
        }
        return order_;
    }

private:
    enum class State : std::uint8_t { Unseen, OnPath, Done };
    struct Visit {
        std::size_t layer;
        std::size_t next_input;
    };

    const std::vector<KerasLayer>& layers_;
    std::vector<State> states_;
    std::vector<std::size_t> order_;
};

KerasModelConfig in_order(std::vector<KerasLayer> layers, std::size_t input, std::size_t output) {
    const std::vector<std::size_t> order = TopologicalOrder(layers).leading_to(output);
    if (order.size() != layers.size()) {
        std::vector<bool> used(layers.size(), false);
        for (const std::size_t layer : order) used[layer] = true;
        const auto unused = static_cast<std::size_t>(std::ranges::find(used, false) - used.begin());
        throw ModelError(fmt::format("layer {}: it does not lead to the output of the model",
                                     ir::quoted(layers[unused].name)));
    }
    std::vector<std::size_t> positions(layers.size());
    KerasModelConfig model;
    for (const std::size_t layer : order) {
        if (layers[layer].inputs.empty() && layer != input) {
            throw ModelError(fmt::format("layer {}: it has no inputs and is not the model's input",
                                         ir::quoted(layers[layer].name)));
        }
        positions[layer] = model.layers.size();
        for (std::size_t& position : layers[layer].inputs) position = positions[position];
        model.layers.push_back(std::move(layers[layer]));
    }
    return model;
}

KerasModelConfig parse_functional(const json& config) {
    std::vector<KerasLayer> layers;
    std::map<std::string, std::size_t> by_name;
    const json& descriptions = layer_list(member(config, "layers", "model_config"));
    for (const json& description : descriptions) {
        layers.push_back(parse_layer(description, layers.size()));
        if (!by_name.emplace(layers.back().name, layers.size() - 1).second) {
            throw ModelError(
                fmt::format("layer {}: two layers have this name", ir::quoted(layers.back().name)));
        }
    }
    const auto position = [&](const std::string& reader, const std::string& name) {
        const auto found = by_name.find(name);
        if (found != by_name.end()) return found->second;
        throw ModelError(
            fmt::format("{} names layer {}; there is none of that name", reader, ir::quoted(name)));
    };
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const std::string place = fmt::format("layer {}", ir::quoted(layers[i].name));
        for (const std::string& name :
             inbound_layers(member(descriptions[i], "inbound_nodes", place), place)) {
            layers[i].inputs.push_back(position(place, name));
        }
    }
    const auto only = [&](const char* key) {
        return position(fmt::format("model_config: {}", key),
                        only_tensor(member(config, key, "model_config"), key));
    };
    const std::size_t input = only("input_layers");
    return in_order(std::move(layers), input, only("output_layers"));
}

}  // namespace

KerasModelConfig parse_model_config(std::string_view text) {
    const json model = parse_json(text, "model_config");
    const std::string& class_name = text_member(model, "class_name", "model_config");
    const json& config = member(model, "config", "model_config");
    if (class_name == "Sequential") return parse_sequential(config);
    if (class_name == "Functional" || class_name == "Model") return parse_functional(config);
    throw ModelError(
        fmt::format("model_config: class_name is {}; only Sequential and Functional models can be read",
                    ir::quoted(class_name)));
}

}  // namespace systole::frontend
