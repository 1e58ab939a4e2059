#include "compiler/frontend/keras/build_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/message_text.h"
#include "compiler/frontend/keras/model_config.h"
#include "compiler/frontend/layer_context.h"
#include "compiler/frontend/text_values.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

/// The weights of the layers of a model. Each is read once, however often its layer is called.
class KerasWeights final : public WeightProvider {
public:
    KerasWeights(const WeightSource& source, const KerasModelConfig& model)
        : source_(source), model_(model), read_(model.layers.size()) {}

    /// To be called before the layer of each call is built.
    void begin(std::size_t layer) {
        layer_ = layer;
        number_ = 0;
    }

    ir::Constant provide(const LayerConfig& /*layer*/, const std::string& /*layer_name*/,
                         const ir::WeightRequest& request) override {
        const std::size_t number = number_++;
        std::vector<Weight>& weights = read_[layer_];
        if (number < weights.size()) {
            if (weights[number].shape == request.file_shape) return weights[number].values;
            throw ModelError(fmt::format("layer {}: it is called with inputs of different shapes",
                                         in_quotes(model_.layers[layer_].name)));
        }
        ir::Constant values =
            ir::Constant::of(read({.roles = request.roles, .number = number, .shape = request.file_shape}));
        weights.push_back({request.file_shape, values});
        return values;
    }

private:
    /// The messages of a file name a place in it; here they get the layer too.
    std::vector<float> read(const WantedWeight& wanted) const {
        const KerasLayer& layer = model_.layers[layer_];
        try {
            return source_.read(layer, wanted);
        } catch (const ModelError& error) {
            const std::string place = fmt::format("layer {}: ", in_quotes(layer.name));
            if (std::string_view(error.what()).starts_with(place)) throw;
            throw ModelError(
                fmt::format("{}its {} in the file, {}", place, wanted.roles.front(), error.what()));
        }
    }

    struct Weight {
        std::vector<std::uint64_t> shape;
        ir::Constant values;
    };

    const WeightSource& source_;
    const KerasModelConfig& model_;
    std::vector<std::vector<Weight>> read_;  ///< by layer
    std::size_t layer_ = 0;
    std::size_t number_ = 0;
};

[[noreturn]] void refuse(const KerasLayer& layer) {
    const bool is_code = layer.class_name == "Lambda";
    throw ModelError(fmt::format("layer {}: class_name is {}; {}", in_quotes(layer.name),
                                 in_quotes(layer.class_name),
                                 is_code ? "it is Python code, and code in a network's file is never run"
                                         : "this class of layers is not supported: docs/operators.md lists "
                                           "those that are"));
}

/// Builds layers that Keras applies to images [channels, height, width], or to the axis behind the batch, on
/// images [height, width, channels]: with transpositions before and behind them, which passes remove where
/// two meet.
class AxisOrder {
public:
    explicit AxisOrder(GraphBuilder& builder) : builder_(builder) {}

    /// The keys that such a layer has on the other order of axes; null for other layers.
    static nlohmann::json other_keys(const KerasLayer& layer, std::size_t rank) {
        constexpr std::size_t sequence_rank = 3;
        constexpr std::size_t image_rank = 4;
        if ((rank != sequence_rank && rank != image_rank) || !layer.config.is_object()) return nullptr;
        const auto with = [&](const char* key, nlohmann::json value) {
            nlohmann::json config = layer.config;
            config[key] = std::move(value);
            return config;
        };
        const auto format = layer.config.find("data_format");
        if (format != layer.config.end() && *format == "channels_first") {
            return with("data_format", "channels_last");
        }
        constexpr std::array<std::string_view, 3> classes{"BatchNormalization", "Normalization", "Softmax"};
        const auto axis = layer.config.find("axis");
        if (axis == layer.config.end() || std::ranges::find(classes, layer.class_name) == classes.end()) {
            return nullptr;
        }
        const nlohmann::json& only = axis->is_array() && axis->size() == 1 ? axis->front() : *axis;
        if (only == 1 || only == 1 - static_cast<int>(rank)) return with("axis", -1);
        return nullptr;
    }

    /// [batch, a, ..., z] as [batch, ..., z, a].
    ir::ValueId behind(const std::string& layer, ir::ValueId value) {
        std::vector<std::int64_t> permutation{0};
        for (std::size_t axis = 2; axis < rank_of(value); ++axis) {
            permutation.push_back(static_cast<std::int64_t>(axis));
        }
        permutation.push_back(1);
        return append(layer, value, std::move(permutation));
    }

    /// [batch, ..., y, z] as [batch, z, ..., y].
    ir::ValueId in_front(const std::string& layer, ir::ValueId value) {
        const std::size_t last = rank_of(value) - 1;
        std::vector<std::int64_t> permutation{0, static_cast<std::int64_t>(last)};
        for (std::size_t axis = 1; axis < last; ++axis)
            permutation.push_back(static_cast<std::int64_t>(axis));
        return append(layer, value, std::move(permutation));
    }

    std::size_t rank_of(ir::ValueId value) const { return builder_.graph.values[value].shape.rank(); }

private:
    ir::ValueId append(const std::string& layer, ir::ValueId value, std::vector<std::int64_t> permutation) {
        return builder_.graph.append(layer, builder_.operators.at("transpose"),
                                     {{"permutation", std::move(permutation)}}, {value});
    }

    GraphBuilder& builder_;
};

/// Builds a call of a layer and returns its results.
ir::Results build_call(GraphBuilder& builder, const KerasLayer& layer, const std::string& name,
                       std::vector<ir::ValueId> inputs) {
    const ir::LayerKind* const kind = builder.operators.find_layer(builder.format, layer.class_name);
    if (kind == nullptr) refuse(layer);
    AxisOrder order(builder);
    const std::size_t rank = inputs.empty() ? 0 : order.rank_of(inputs.front());
    const nlohmann::json other_keys = AxisOrder::other_keys(layer, rank);
    if (other_keys.is_null()) {
        LayerContext context(builder, *kind, layer.config, name, std::move(inputs), DataType::Uint8);
        return kind->build(context);
    }
    std::vector<ir::ValueId> turned;
    turned.reserve(inputs.size());
    for (const ir::ValueId input : inputs) {
        turned.push_back(order.rank_of(input) == rank ? order.behind(name, input) : input);
    }
    LayerContext context(builder, *kind, other_keys, name, turned, DataType::Uint8);
    ir::Results results = kind->build(context);
    for (ir::ValueId& result : results) {
        const auto same = std::ranges::find(turned, result);
        if (same != turned.end()) {
            result = inputs[static_cast<std::size_t>(same - turned.begin())];
        } else if (order.rank_of(result) == rank) {
            result = order.in_front(name, result);
        }
    }
    return results;
}

/// The sizes in a list of Keras, null where it leaves them open; nullopt for anything else.
std::optional<std::vector<std::optional<std::uint32_t>>> sizes_in(const nlohmann::json& list) {
    if (!list.is_array()) return std::nullopt;
    std::vector<std::optional<std::uint32_t>> sizes;
    for (const nlohmann::json& size : list) {
        const auto number = as_unsigned(size);
        if (!size.is_null() && number.value_or(0) == 0) return std::nullopt;
        sizes.push_back(number);
    }
    if (sizes.empty() || sizes.size() > ir::Shape::most_extents) return std::nullopt;
    return sizes;
}

/// Gives the inputs of the model the sizes that it leaves open.
void close_shapes(KerasModelConfig& model, const InputShapes& shapes) {
    std::vector<std::string> names;
    for (const KerasCall& call : model.calls) {
        if (call.inputs.empty()) names.push_back(call.name);
    }
    check_given_shapes(shapes, names);
    for (const KerasCall& call : model.calls) {
        nlohmann::json& config = model.layers[call.layer].config;
        if (!call.inputs.empty() || !config.is_object()) continue;
        const char* const newest = "batch_shape";
        const bool has_newest = config.contains(newest) && !config[newest].is_null();
        const auto key = config.find(has_newest ? newest : "batch_input_shape");
        const auto sizes = key == config.end() ? std::nullopt : sizes_in(*key);
        if (!sizes) continue;  // the layer says what is wrong
        try {
            const ir::Shape shape = closed_shape(*sizes, given_shape(shapes, call.name));
            // With more images in the shape, all of them would be one inference.
            if (!sizes->front() && shape[0] != 1) {
                throw ModelError(
                    fmt::format("its batch is given as {}; it must be 1: --batch says how many images go "
                                "through the network together",
                                shape[0]));
            }
            *key = std::vector<std::uint32_t>(shape.extents().begin(), shape.extents().end());
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("input {}: {}", in_quotes(call.name), error.what()));
        }
    }
}

}  // namespace

std::optional<int> keras_major_version(std::string_view version) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (version.size() < 2 || !is_digit(version[0]) || version[1] != '.') return std::nullopt;
    return version[0] - '0';
}

ir::Graph build_keras_graph(std::string_view model_config, const WeightSource& weights,
                            const ir::OperatorSet& operators, int major_version, const InputShapes& shapes) {
    KerasModelConfig model = parse_model_config(model_config, major_version);
    close_shapes(model, shapes);
    KerasWeights provider(weights, model);
    GraphBuilder builder{.format = ir::Format::Keras, .operators = operators, .weights = provider};
    std::vector<std::vector<ir::ValueId>> results;
    const auto value_of = [&](const KerasResult& result) {
        const std::vector<ir::ValueId>& values = results[result.call];
        if (result.index < values.size()) return values[result.index];
        throw ModelError(fmt::format("layer {}: result {} is read; it has {}",
                                     in_quotes(model.calls[result.call].name), result.index,
                                     counted(values.size(), "result")));
    };
    for (const KerasCall& call : model.calls) {
        std::vector<ir::ValueId> inputs;
        for (const KerasResult& input : call.inputs) inputs.push_back(value_of(input));
        provider.begin(call.layer);
        results.push_back(build_call(builder, model.layers[call.layer], call.name, std::move(inputs)));
    }
    for (const KerasResult& output : model.outputs) {
        const ir::ValueId value = value_of(output);
        const KerasCall& call = model.calls[output.call];
        const bool passed_on = std::ranges::any_of(
            call.inputs, [&](const KerasResult& input) { return value_of(input) == value; });
        std::vector<ir::ValueId>& outputs = builder.graph.outputs;
        // Keras names an output after its layer, also after one that does nothing, such as Dropout.
        if (passed_on && !std::ranges::count(builder.graph.inputs, value) &&
            !std::ranges::count(outputs, value)) {
            builder.graph.values[value].name = call.name;
        }
        outputs.push_back(value);
    }
    // A nested model may have outputs that nobody reads.
    ir::remove_unread(builder.graph);
    return std::move(builder.graph);
}

}  // namespace systole::frontend
