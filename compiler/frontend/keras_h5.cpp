#include "compiler/frontend/keras_h5.h"

#include <fmt/format.h>

#include "compiler/frontend/keras/child_process.h"
#include "compiler/frontend/keras/model_config.h"
#include "compiler/frontend/layer_context.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"

namespace systole::frontend {

namespace {

/// The weights of the layers in a Keras file.
class KerasWeights final : public WeightProvider {
public:
    explicit KerasWeights(const WeightSource& source) : source_(source) {}

    ir::Constant provide(const LayerConfig& /*layer*/, const std::string& layer_name,
                         const ir::WeightRequest& request) override {
        return ir::Constant::of(source_.read(layer_name, request.roles, request.file_shape));
    }

private:
    const WeightSource& source_;
};

}  // namespace

ir::Graph build_keras_graph(std::string_view model_config, const WeightSource& weights,
                            const ir::OperatorSet& operators) {
    const KerasModelConfig model = parse_model_config(model_config);
    KerasWeights provider(weights);
    GraphBuilder builder{.format = ir::Format::Keras, .operators = operators, .weights = provider};
    std::vector<ir::ValueId> results;
    for (const KerasLayer& layer : model.layers) {
        const ir::LayerKind* const kind = operators.find_layer(builder.format, layer.class_name);
        if (kind == nullptr) {
            throw ModelError(
                fmt::format("layer {}: class_name is {}; this class of layers is not supported: "
                            "docs/operators.md lists those "
                            "that are",
                            ir::quoted(layer.name), ir::quoted(layer.class_name)));
        }
        std::vector<ir::ValueId> inputs;
        for (const std::size_t input : layer.inputs) inputs.push_back(results[input]);
        LayerContext context(builder, *kind, layer.config, layer.name, std::move(inputs), DataType::Uint8);
        results.push_back(kind->build(context));
    }
    if (!results.empty()) builder.graph.outputs = {results.back()};
    return std::move(builder.graph);
}

namespace {

ir::Graph read(const std::filesystem::path& path, const ir::OperatorSet& operators) {
    const Hdf5File file(path);
    if (!file.has_attribute("/", "model_config")) {
        throw ModelError("it has no model_config; it must hold the whole model, not weights alone");
    }
    ir::Graph graph =
        build_keras_graph(file.text_attribute("/", "model_config"), Hdf5Weights(file), operators);
    graph.name = path.stem().string();
    return graph;
}

}  // namespace

ir::Graph read_keras_h5(const std::filesystem::path& path, const ir::OperatorSet& operators) {
    const auto error_of_reading = [&]() -> std::string {
        try {
            read(path, operators);
            return {};
        } catch (const ModelError& error) {
            return error.what();
        }
    };
    // HDF5 1.10 crashes or never returns on one in a thousand damaged files and does not recover from others.
    // So a copy of the process reads the file first.
    constexpr unsigned cpu_seconds = 10;
    const auto error = run_in_child(error_of_reading, cpu_seconds);
    if (!error)
        throw ModelError(fmt::format("{}: it is damaged: the HDF5 library cannot read it", path.string()));
    if (!error->empty()) throw ModelError(fmt::format("{}: {}", path.string(), *error));
    return read(path, operators);
}

}  // namespace systole::frontend
