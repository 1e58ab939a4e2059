#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace systole::frontend {

/// A layer in the list of its model.
struct LayerStep {
    std::string name;
    std::string class_name;
    /// Its number among the layers of its class in this list, and how many there are.
    std::size_t position = 0;
    std::size_t count = 1;
    /// Its group of a .keras file, in that of the layer around it; empty: found by class and position.
    std::string group = {};
};

struct KerasModelConfig;

/// A layer with weights of its own, as the file's model_config describes it.
struct KerasLayer {
    std::string class_name;
    std::string name;  ///< behind the names of the models that it is nested in: "encoder/conv1"
    nlohmann::json config;
    /// From the model's own layer to the layer itself, which is nested as deep as there are steps.
    std::vector<LayerStep> steps;
    /// What a TimeDistributed layer applies to each step of its input, as a model of one input; else null.
    std::shared_ptr<const KerasModelConfig> each_step = nullptr;
    /// The two layers of a Bidirectional one, which go forwards and backwards; else none.
    std::vector<KerasLayer> directions = {};
};

/// Throws ModelError that begins with the layer.
[[noreturn]] void fail(const KerasLayer& layer, std::string_view rule);

/// A result of a call.
struct KerasResult {
    std::size_t call = 0;   ///< in KerasModelConfig::calls
    std::size_t index = 0;  ///< of the results of the call
};

/// The application of a layer to inputs.
struct KerasCall {
    std::size_t layer = 0;  ///< in KerasModelConfig::layers
    std::string name;       ///< the layer's, with a number behind it from the second call on
    std::vector<KerasResult> inputs;
    /// The values that it is called with beside the inputs, as keys of its configuration.
    nlohmann::json arguments = nlohmann::json::object();
};

/// A model without nesting: all layers, and the calls of layers, each after those it reads. The calls of the
/// model's inputs come first, in the model's order.
struct KerasModelConfig {
    std::vector<KerasLayer> layers;
    std::vector<KerasCall> calls;
    std::vector<KerasResult> outputs;
};

/// Reads the model_config of a Sequential or functional model as Keras 1.2 and later write it; layers and
/// keys of Keras 1 get the names that they have in Keras 2. Functions whose meaning depends on the version
/// get names of their own: `major_version` is that of the Keras that wrote the text. Throws ModelError
/// (without the file's name) if it is not JSON, is incomplete, or describes something unsupported.
KerasModelConfig parse_model_config(std::string_view text, int major_version = 2);

}  // namespace systole::frontend
