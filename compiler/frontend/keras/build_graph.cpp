#include "compiler/frontend/keras/build_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/message_text.h"
#include "compiler/frontend/keras/masks.h"
#include "compiler/frontend/keras/model_config.h"
#include "compiler/frontend/layer_context.h"
#include "compiler/frontend/text_values.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

/// The weights of the layers of a model. Each is read once, however often its layer is called.
class KerasWeights final : public WeightProvider {
public:
    explicit KerasWeights(const WeightSource& source) : source_(source) {}

    /// To be called before the layer of each call is built. The layer must outlive this object.
    void begin(const KerasLayer& layer) {
        layer_ = &layer;
        number_ = 0;
    }

    ir::Constant provide(const LayerConfig& /*layer*/, const std::string& /*layer_name*/,
                         const ir::WeightRequest& request) override {
        const std::size_t number = number_++;
        std::vector<Weight>& weights = read_[layer_];
        if (number < weights.size()) {
            if (weights[number].shape == request.file_shape) return weights[number].values;
            fail(*layer_, "it is called with inputs of different shapes");
        }
        const auto of_owner = std::ranges::count(weights, request.owner, &Weight::owner);
        ir::Constant values = ir::Constant::of(read({.roles = request.roles,
                                                     .number = static_cast<std::size_t>(of_owner),
                                                     .shape = request.file_shape,
                                                     .owner = request.owner}));
        weights.push_back({request.file_shape, request.owner, values});
        return values;
    }

private:
    /// The messages of a file name a place in it; here they get the layer too.
    std::vector<float> read(const WantedWeight& wanted) const {
        try {
            return source_.read(*layer_, wanted);
        } catch (const ModelError& error) {
            const std::string place = fmt::format("layer {}: ", in_quotes(layer_->name));
            if (std::string_view(error.what()).starts_with(place)) throw;
            throw ModelError(
                fmt::format("{}its {} in the file, {}", place, wanted.roles.front(), error.what()));
        }
    }

    struct Weight {
        std::vector<std::uint64_t> shape;
        std::vector<std::string_view> owner;
        ir::Constant values;
    };

    const WeightSource& source_;
    std::map<const KerasLayer*, std::vector<Weight>> read_;
    const KerasLayer* layer_ = nullptr;
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
    static nlohmann::json other_keys(const std::string& class_name, const nlohmann::json& keys,
                                     std::size_t rank) {
        constexpr std::size_t sequence_rank = 3;
        constexpr std::size_t image_rank = 4;
        if ((rank != sequence_rank && rank != image_rank) || !keys.is_object()) return nullptr;
        const auto with = [&](const char* key, nlohmann::json value) {
            nlohmann::json other = keys;
            other[key] = std::move(value);
            return other;
        };
        const auto format = keys.find("data_format");
        if (format != keys.end() && *format == "channels_first") {
            return with("data_format", "channels_last");
        }
        constexpr std::array<std::string_view, 3> classes{"BatchNormalization", "Normalization", "Softmax"};
        const auto axis = keys.find("axis");
        if (axis == keys.end() || std::ranges::find(classes, class_name) == classes.end()) {
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

/// Builds a call of a layer with these keys and returns its results.
ir::Results build_call(GraphBuilder& builder, const KerasLayer& layer, const nlohmann::json& keys,
                       const std::string& name, std::vector<ir::ValueId> inputs) {
    const ir::LayerKind* const kind = builder.operators.find_layer(builder.format, layer.class_name);
    if (kind == nullptr) refuse(layer);
    AxisOrder order(builder);
    const std::size_t rank = inputs.empty() ? 0 : order.rank_of(inputs.front());
    const nlohmann::json other_keys = AxisOrder::other_keys(layer.class_name, keys, rank);
    if (other_keys.is_null()) {
        LayerContext context(builder, *kind, keys, name, std::move(inputs), DataType::Uint8);
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

/// The results of the calls of a model.
using CallResults = std::vector<ir::Results>;

ir::ValueId value_of(const KerasModelConfig& model, const CallResults& results, const KerasResult& result) {
    const ir::Results& values = results[result.call];
    if (result.index < values.size()) return values[result.index];
    throw ModelError(fmt::format("layer {}: result {} is read; it has {}",
                                 in_quotes(model.calls[result.call].name), result.index,
                                 counted(values.size(), "result")));
}

/// The keys with which the only layer of a model computes all steps at once that TimeDistributed applies it
/// to: it works on elements or on lines along the last axis, one by one. nullopt for other models. `rank` is
/// that of the steps.
std::optional<nlohmann::json> keys_on_all_steps(const KerasModelConfig& model, std::size_t rank) {
    constexpr std::array<std::string_view, 15> without_axis{
        "Activation",       "ActivityRegularization", "AlphaDropout",   "Dense",     "Dropout", "ELU",
        "GaussianDropout",  "GaussianNoise",          "Identity",       "LeakyReLU", "ReLU",    "Rescaling",
        "SpatialDropout1D", "SpatialDropout2D",       "ThresholdedReLU"};
    constexpr std::array<std::string_view, 4> with_axis{"BatchNormalization", "LayerNormalization", "Softmax",
                                                        "UnitNormalization"};
    constexpr std::size_t input_and_layer = 2;
    if (model.layers.size() != input_and_layer || model.calls.size() != input_and_layer) return std::nullopt;
    const KerasLayer& layer = model.layers[model.calls.back().layer];
    if (std::ranges::find(without_axis, layer.class_name) != without_axis.end()) return layer.config;
    if (std::ranges::find(with_axis, layer.class_name) == with_axis.end() || !layer.config.is_object()) {
        return std::nullopt;
    }
    const nlohmann::json axis = layer.config.value("axis", nlohmann::json(-1));
    const nlohmann::json& only = axis.is_array() && axis.size() == 1 ? axis.front() : axis;
    if (only != -1 && only != rank - 1) return std::nullopt;
    nlohmann::json keys = layer.config;
    keys["axis"] = -1;
    return keys;
}

/// Builds the calls of a model, and of the models that TimeDistributed layers apply to each step.
class ModelBuilder {
public:
    ModelBuilder(GraphBuilder& builder, KerasWeights& weights) : builder_(builder), weights_(weights) {}

    /// The model's inputs are those of the network, or `given`. Names of nodes end in `suffix`.
    CallResults build(const KerasModelConfig& model, const std::vector<ir::ValueId>& given = {},
                      const std::string& suffix = {}) {
        CallResults results;
        std::size_t next_given = 0;
        for (const KerasCall& call : model.calls) {
            const KerasLayer& layer = model.layers[call.layer];
            if (call.inputs.empty() && next_given < given.size()) {
                results.emplace_back(given[next_given++]);
                continue;
            }
            std::vector<ir::ValueId> inputs;
            for (const KerasResult& input : call.inputs) inputs.push_back(value_of(model, results, input));
            results.push_back(build(layer, call, call.name + suffix, std::move(inputs)));
        }
        return results;
    }

private:
    ir::Results build(const KerasLayer& layer, const KerasCall& call, const std::string& name,
                      std::vector<ir::ValueId> inputs) {
        if (++built_ > most_calls) {
            throw ModelError(
                fmt::format("model_config: its layers are called for more than {} steps", most_calls));
        }
        if (layer.each_step != nullptr) return build_each_step(layer, name, inputs);
        if (!layer.directions.empty()) return build_directions(layer, name, inputs);
        weights_.begin(layer);
        if (call.arguments.empty()) return build_call(builder_, layer, layer.config, name, std::move(inputs));
        nlohmann::json keys = layer.config;
        keys.update(call.arguments);
        return build_call(builder_, layer, keys, name, std::move(inputs));
    }

    /// Calls the inner model of a TimeDistributed layer for each step [batch, ...] of [batch, steps, ...].
    ir::Results build_each_step(const KerasLayer& layer, const std::string& name,
                                const std::vector<ir::ValueId>& inputs) {
        if (inputs.size() != 1) {
            fail(layer, fmt::format("it has {}; it must have exactly 1", counted(inputs.size(), "input")));
        }
        const KerasModelConfig& model = *layer.each_step;
        const auto is_open = [](const KerasCall& call) { return call.inputs.empty(); };
        const auto model_inputs = std::ranges::count_if(model.calls, is_open);
        if (model_inputs != 1 || model.outputs.size() != 1) {
            fail(layer, fmt::format("its layer is a model with {} and {}; it must have 1 of each",
                                    counted(static_cast<std::size_t>(model_inputs), "input"),
                                    counted(model.outputs.size(), "output")));
        }
        const ir::Shape shape = shape_of(inputs.front());
        constexpr std::size_t least_rank = 3;
        if (shape.rank() < least_rank) {
            fail(layer, fmt::format("its input is {}; it must be [batch, steps, ...]", to_text(shape)));
        }
        // What tells the calls of the layer apart, and the steps of those around it.
        const std::string of_call = name.substr(layer.name.size());
        if (const auto keys = keys_on_all_steps(model, shape.rank() - 1)) {
            return build_all_steps(model, *keys, model.calls.back().name + of_call, inputs.front());
        }
        std::vector<ir::ValueId> steps;
        for (std::uint32_t step = 0; step < shape[1]; ++step) {
            const ir::ValueId input = step_of(name, inputs.front(), step);
            const std::string suffix = step == 0 ? of_call : fmt::format("{} (step {})", of_call, step + 1);
            const CallResults results = build(model, {input}, suffix);
            const ir::ValueId result = value_of(model, results, model.outputs.front());
            std::vector<std::int64_t> extents = extents_of(shape_of(result));
            extents.insert(extents.begin() + 1, 1);
            if (extents.size() > ir::Shape::most_extents) {
                fail(layer, fmt::format("its steps are {}; they may have at most {} axes",
                                        to_text(shape_of(result)), ir::Shape::most_extents - 1));
            }
            steps.push_back(append(name, "reshape", {{"shape", std::move(extents)}}, {result}));
        }
        if (steps.size() == 1) return steps.front();
        return append(name, "concat", {{"axis", std::int64_t{1}}}, std::move(steps));
    }

    /// Builds both layers of a Bidirectional one, and combines their first results. The initial state has
    /// that of the layer that goes forwards, then the other one's.
    ir::Results build_directions(const KerasLayer& layer, const std::string& name,
                                 const std::vector<ir::ValueId>& inputs) {
        const std::size_t states = inputs.empty() ? 0 : inputs.size() - 1;
        if (inputs.empty() || states % 2 != 0) {
            fail(layer, fmt::format("it has {}; it must have 1, and initial states for both directions",
                                    counted(inputs.size(), "input")));
        }
        std::vector<ir::Results> made;
        for (const KerasLayer& direction : layer.directions) {
            std::vector<ir::ValueId> own{inputs.front()};
            const auto first = inputs.begin() + static_cast<std::ptrdiff_t>(1 + made.size() * (states / 2));
            own.insert(own.end(), first, first + static_cast<std::ptrdiff_t>(states / 2));
            weights_.begin(direction);
            const char* const place = made.empty() ? "forward" : "backward";
            made.push_back(build_call(builder_, direction, direction.config,
                                      fmt::format("{}/{}", name, place), std::move(own)));
        }
        ir::Results results = combined(layer, name, made[0].front(), made[1].front());
        for (const ir::Results& direction : made)
            results.insert(results.end(), direction.begin() + 1, direction.end());
        return results;
    }

    /// The results of both directions, by the layer's merge_mode.
    ir::Results combined(const KerasLayer& layer, const std::string& name, ir::ValueId forward,
                         ir::ValueId backward) {
        const nlohmann::json mode = layer.config.value("merge_mode", nlohmann::json("concat"));
        const std::vector<ir::ValueId> both{forward, backward};
        if (mode.is_null()) return both;
        if (mode == "concat") {
            const auto last = static_cast<std::int64_t>(shape_of(forward).rank()) - 1;
            return append(name, "concat", {{"axis", last}}, both);
        }
        if (mode == "mul") return append(name, "multiply", {}, both);
        if (mode != "sum" && mode != "ave") {
            fail(layer,
                 fmt::format("merge_mode is {}; it must be \"concat\", \"sum\", \"mul\", \"ave\" or null",
                             describe(mode)));
        }
        const ir::ValueId sum = append(name, "add", {}, both);
        if (mode == "sum") return sum;
        const ir::ValueId half = builder_.graph.add_constant(name + "/half", {1}, DataType::Float32,
                                                             ir::Constant::of(std::vector<float>{0.5F}));
        return append(name, "multiply", {}, {sum, half});
    }

    /// Calls the layer once with all steps; images of more axes than it may have are put one below the other.
    ir::Results build_all_steps(const KerasModelConfig& model, const nlohmann::json& keys,
                                const std::string& name, ir::ValueId input) {
        constexpr std::size_t most_axes = 4;
        std::vector<std::int64_t> extents = extents_of(shape_of(input));
        const std::vector<std::int64_t> outer(extents.begin(), extents.end() - 1);
        ir::ValueId steps = input;
        if (extents.size() > most_axes) {
            while (extents.size() > most_axes) {
                extents[1] *= extents[2];
                extents.erase(extents.begin() + 2);
            }
            steps = append(name, "reshape", {{"shape", extents}}, {input});
        }
        const KerasLayer& layer = model.layers[model.calls.back().layer];
        weights_.begin(layer);
        const ir::ValueId result = build_call(builder_, layer, keys, name, {steps}).front();
        if (result == steps) return input;
        if (steps == input) return result;
        extents = outer;
        extents.push_back(extents_of(shape_of(result)).back());
        return append(name, "reshape", {{"shape", std::move(extents)}}, {result});
    }

    /// The elements [0, step, ...].
    ir::ValueId step_of(const std::string& name, ir::ValueId input, std::uint32_t step) {
        std::vector<std::int64_t> count = extents_of(shape_of(input));
        std::vector<std::int64_t> first(count.size(), 0);
        first[1] = step;
        count[1] = 1;
        std::vector<std::int64_t> extents = count;
        extents.erase(extents.begin() + 1);
        const std::vector<std::int64_t> ones(count.size(), 1);
        const ir::ValueId part =
            append(name, "strided_slice",
                   {{"first", std::move(first)}, {"step", ones}, {"count", std::move(count)}}, {input});
        return append(name, "reshape", {{"shape", std::move(extents)}}, {part});
    }

    static std::vector<std::int64_t> extents_of(const ir::Shape& shape) {
        return {shape.extents().begin(), shape.extents().end()};
    }
    const ir::Shape& shape_of(ir::ValueId value) const { return builder_.graph.values[value].shape; }

    ir::ValueId append(const std::string& name, const char* op, std::vector<ir::NamedAttribute> attributes,
                       std::vector<ir::ValueId> inputs) {
        return builder_.graph.append(name, builder_.operators.at(op), std::move(attributes),
                                     std::move(inputs));
    }

    /// A small file may describe endless steps, and layers for each.
    static constexpr std::size_t most_calls = 200000;

    GraphBuilder& builder_;
    KerasWeights& weights_;
    std::size_t built_ = 0;
};

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
    check_given_shapes(shapes.given, names);
    for (const KerasCall& call : model.calls) {
        nlohmann::json& config = model.layers[call.layer].config;
        if (!call.inputs.empty() || !config.is_object()) continue;
        const char* const newest = "batch_shape";
        const bool has_newest = config.contains(newest) && !config[newest].is_null();
        const auto key = config.find(has_newest ? newest : "batch_input_shape");
        const auto sizes = key == config.end() ? std::nullopt : sizes_in(*key);
        if (!sizes) continue;  // the layer says what is wrong
        try {
            const ir::Shape shape = closed_shape(*sizes, known_shape(shapes, call.name, *sizes));
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

/// An input whose numbers are all cut to integers before layers read them, as by Embedding, is one of
/// integers.
void type_inputs_of_indices(ir::Graph& graph) {
    const auto readers = ir::readers(graph);
    const auto cuts = [&](ir::NodeId id) {
        const ir::Node& node = graph.nodes[id];
        return node.is("cast") && node.integer("truth") == 0 &&
               graph.values[node.output()].type == DataType::Int32;
    };
    for (const ir::ValueId input : graph.inputs) {
        const bool is_of_indices = !readers[input].empty() && !ir::is_output(graph, input) &&
                                   std::ranges::all_of(readers[input], cuts);
        if (!is_of_indices) continue;
        graph.values[input].type = DataType::Int32;
        for (const ir::NodeId cast : readers[input])
            ir::replace_value(graph, graph.nodes[cast].output(), input);
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
    check_masks(model);
    close_shapes(model, shapes);
    KerasWeights provider(weights);
    GraphBuilder builder{.format = ir::Format::Keras, .operators = operators, .weights = provider};
    const CallResults results = ModelBuilder(builder, provider).build(model);
    for (const KerasResult& output : model.outputs) {
        const ir::ValueId value = value_of(model, results, output);
        const KerasCall& call = model.calls[output.call];
        const bool passed_on = std::ranges::any_of(
            call.inputs, [&](const KerasResult& input) { return value_of(model, results, input) == value; });
        std::vector<ir::ValueId>& outputs = builder.graph.outputs;
        // Keras names an output after its layer: after the whole layer, not a part of it, and also after one
        // that does nothing, such as Dropout.
        const bool has_other_name =
            std::ranges::count(builder.graph.inputs, value) || std::ranges::count(outputs, value);
        if (!passed_on || !has_other_name) builder.graph.values[value].name = call.name;
        outputs.push_back(value);
    }
    type_inputs_of_indices(builder.graph);
    // A nested model may have outputs that nobody reads, and casts of indices are not read any more.
    ir::remove_unread(builder.graph);
    return std::move(builder.graph);
}

}  // namespace systole::frontend
