#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/frontend/keras/build_graph.h"
#include "tests/support/graphs.h"

namespace systole::tests {

/// Weights for any layer and shape: 1, 2, 3, ...
class CountingWeights final : public frontend::WeightSource {
public:
    std::vector<float> read(const frontend::KerasLayer& /*layer*/,
                            const frontend::WantedWeight& wanted) const override {
        std::uint64_t elements = 1;
        for (const std::uint64_t extent : wanted.shape) elements *= extent;
        std::vector<float> values(elements);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
        return values;
    }
};

inline nlohmann::json layer(const std::string& class_name, const std::string& name, nlohmann::json config) {
    config["name"] = name;
    return {{"class_name", class_name}, {"config", config}};
}

/// The graph of a Sequential model whose input has this shape (batch first).
inline ir::Graph sequential(const nlohmann::json& batch_shape, const std::vector<nlohmann::json>& layers) {
    nlohmann::json list = nlohmann::json::array({layer("InputLayer", "in", {{"batch_shape", batch_shape}})});
    for (const nlohmann::json& one : layers) list.push_back(one);
    const nlohmann::json model{{"class_name", "Sequential"}, {"config", {{"name", "s"}, {"layers", list}}}};
    return frontend::build_keras_graph(model.dump(), CountingWeights(), operators::registry());
}

/// The text of the nodes after the input.
inline std::string nodes_of(const ir::Graph& graph) {
    const std::string text = summary(graph);
    return text.substr(text.find("%1"));
}

}  // namespace systole::tests
