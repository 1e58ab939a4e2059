#include "compiler/frontend/keras_h5.h"

#include <fmt/format.h>

#include "compiler/frontend/keras/builders.h"
#include "compiler/frontend/keras/child_process.h"
#include "compiler/frontend/keras/model_config.h"
#include "compiler/graph/shape_text.h"
#include "compiler/model_error.h"

namespace systole::frontend {

graph::Graph build_keras_graph(std::string_view model_config, const WeightSource& weights) {
    const KerasModelConfig model = parse_model_config(model_config);
    graph::Graph graph;
    std::vector<graph::NodeId> results;
    for (const KerasLayer& layer : model.layers) {
        const Builder build = find_builder(layer.class_name);
        if (build == nullptr) {
            throw ModelError(fmt::format("layer {}: class_name is {}; this class of layers is not supported",
                                         graph::quoted(layer.name), graph::quoted(layer.class_name)));
        }
        std::vector<graph::NodeId> inputs;
        for (const std::size_t input : layer.inputs) inputs.push_back(results[input]);
        LayerContext context(layer, weights, graph, std::move(inputs));
        results.push_back(build(context));
    }
    return graph;
}

namespace {

graph::Graph read(const std::filesystem::path& path) {
    const Hdf5File file(path);
    if (!file.has_attribute("/", "model_config")) {
        throw ModelError("it has no model_config; it must hold the whole model, not weights alone");
    }
    graph::Graph graph = build_keras_graph(file.text_attribute("/", "model_config"), Hdf5Weights(file));
    graph.name = path.stem().string();
    return graph;
}

}  // namespace

graph::Graph read_keras_h5(const std::filesystem::path& path) {
    const auto error_of_reading = [&]() -> std::string {
        try {
            read(path);
            return {};
        } catch (const ModelError& error) {
            return error.what();
        }
    };
    // HDF5 1.10 crashes, or runs for ever, on one in a thousand damaged files, and does not recover from
    // others. A copy of the process tries first.
    constexpr unsigned cpu_seconds = 10;
    const auto error = run_in_child(error_of_reading, cpu_seconds);
    if (!error)
        throw ModelError(fmt::format("{}: it is damaged: the HDF5 library cannot read it", path.string()));
    if (!error->empty()) throw ModelError(fmt::format("{}: {}", path.string(), *error));
    return read(path);
}

}  // namespace systole::frontend
