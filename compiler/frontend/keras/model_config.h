#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace systole::frontend {

/// One layer as the file's model_config describes it.
struct KerasLayer {
    std::string class_name;
    std::string name;
    nlohmann::json config;
    std::vector<std::size_t> inputs;  ///< positions in KerasModelConfig::layers, each before this layer
};

/// The layers of a Sequential or functional model: the single input first, the single output last.
struct KerasModelConfig {
    std::vector<KerasLayer> layers;
};

/// Reads model_config as Keras 2.2 and later write it. Throws ModelError (without the file's name) if it is
/// not JSON, is incomplete, or describes something unsupported: nested models, layers that are applied more
/// than once, several inputs or outputs.
KerasModelConfig parse_model_config(std::string_view text);

}  // namespace systole::frontend
