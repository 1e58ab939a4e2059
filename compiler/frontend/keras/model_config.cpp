#include "compiler/frontend/keras/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/message_text.h"
#include "compiler/frontend/keras/keras_json.h"
#include "compiler/frontend/text_values.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

using nlohmann::json;

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

/// The member of an object, or null if there is none, or it is null.
const json* optional_member(const json* object, const char* key) {
    if (object == nullptr || !object->is_object()) return nullptr;
    const auto found = object->find(key);
    return found == object->end() || found->is_null() ? nullptr : &*found;
}

std::string place_of(const std::string& layer_name) {
    return fmt::format("layer {}", in_quotes(layer_name));
}

/// A result of a layer as the file writes it: the layer's name, the number of the call, the number of the
/// result.
struct NamedResult {
    std::string layer;
    std::size_t call = 0;
    std::size_t index = 0;
};

/// Whether a value is a result of a layer: ["name", call, result, ...].
bool is_result(const json& value) {
    return value.is_array() && value.size() >= 3 && value[0].is_string() && value[1].is_number_integer() &&
           value[2].is_number_integer();
}

/// Whether an argument beside the inputs changes nothing in a trained network.
bool is_harmless(const std::string& key, const json& value) {
    return value.is_null() || key == "training" || key == "name";
}

/// Throws unless all arguments beside the inputs are harmless.
void check_arguments(const json& arguments, const std::string& place) {
    for (const auto& [key, value] : arguments.items()) {
        if (is_harmless(key, value)) continue;
        throw ModelError(
            fmt::format("{} is called with {}; only inputs are supported", place, in_quotes(key)));
    }
}

NamedResult parse_result(const json& value, const std::string& place) {
    const auto call = is_result(value) ? as_unsigned(value[1]) : std::nullopt;
    const auto index = is_result(value) ? as_unsigned(value[2]) : std::nullopt;
    if (!call || !index) {
        throw ModelError(
            fmt::format("{} reads {}; it must read a result of a layer", place, describe(value)));
    }
    constexpr std::size_t arguments = 3;
    if (value.size() > arguments && value[arguments].is_object()) check_arguments(value[arguments], place);
    return {value[0].get<std::string>(), *call, *index};
}

bool is_keras_tensor(const json& value) {
    const json* const class_name = optional_member(&value, "class_name");
    return class_name != nullptr && *class_name == "__keras_tensor__";
}

/// Appends the results in a value of Keras 3: tensors, in lists or objects at any depth.
void collect_tensors(const json& value, const std::string& place, std::vector<NamedResult>& results) {
    if (is_keras_tensor(value)) {
        const json* const history = optional_member(optional_member(&value, "config"), "keras_history");
        results.push_back(parse_result(history == nullptr ? json() : *history, place));
        return;
    }
    if (!value.is_structured()) {
        throw ModelError(
            fmt::format("{} is called with {}; only tensors are supported", place, describe(value)));
    }
    for (const json& element : value) collect_tensors(element, place, results);
}

/// Appends the results in a value of Keras 2: ["name", 0, 0], in lists or objects at any depth.
void collect_results(const json& value, const std::string& place, std::vector<NamedResult>& results) {
    if (is_result(value) || !value.is_structured()) {
        results.push_back(parse_result(value, place));
        return;
    }
    for (const json& element : value) collect_results(element, place, results);
}

/// What one call of a layer reads. Keras 2 writes [["conv2d", 0, 0, {}], ...], Keras 3 {"args": [tensor or
/// list of tensors], "kwargs": {}}.
std::vector<NamedResult> read_call(const json& call, const std::string& place) {
    std::vector<NamedResult> results;
    if (!call.is_object()) {
        collect_results(call, place, results);
        return results;
    }
    if (const json* const inputs = optional_member(&call, "args")) collect_tensors(*inputs, place, results);
    const json* const arguments = optional_member(&call, "kwargs");
    if (arguments != nullptr && arguments->is_object()) check_arguments(*arguments, place);
    return results;
}

/// What one call of a function reads. Other arguments than tensors are added to `arguments`, the second one
/// as "y".
std::vector<NamedResult> read_function_call(const json& call, const std::string& place, json& arguments) {
    std::vector<NamedResult> results;
    const auto take = [&](const std::string& key, const json& value) {
        if (is_keras_tensor(value)) {
            collect_tensors(value, place, results);
        } else if (is_result(value)) {
            results.push_back(parse_result(value, place));
        } else if (!is_harmless(key, value)) {
            arguments[key] = value;
        }
    };
    constexpr std::size_t keras_2_arguments = 3;
    if (is_result(call)) {
        results.push_back(parse_result({call[0], call[1], call[2]}, place));
        if (call.size() > keras_2_arguments && call[keras_2_arguments].is_object()) {
            for (const auto& [key, value] : call[keras_2_arguments].items()) take(key, value);
        }
        return results;
    }
    if (!call.is_object()) return read_call(call, place);
    if (const json* const inputs = optional_member(&call, "args"); inputs != nullptr && inputs->is_array()) {
        for (std::size_t i = 0; i < inputs->size(); ++i)
            take(i == 1 ? "y" : fmt::format("{}", i), (*inputs)[i]);
    }
    const json* const named = optional_member(&call, "kwargs");
    if (named != nullptr && named->is_object()) {
        for (const auto& [key, value] : named->items()) take(key, value);
    }
    return results;
}

/// The parameters of the layers of attention, in the order of a call; null for other classes.
const std::vector<std::string>* attention_parameters(std::string_view class_name) {
    static const std::vector<std::string> of_several{"query",
                                                     "value",
                                                     "key",
                                                     "query_mask",
                                                     "value_mask",
                                                     "key_mask",
                                                     "attention_mask",
                                                     "return_attention_scores",
                                                     "training",
                                                     "use_causal_mask"};
    static const std::vector<std::string> of_a_list{"inputs", "mask", "training", "return_attention_scores",
                                                    "use_causal_mask"};
    if (class_name == "MultiHeadAttention" || class_name == "GroupQueryAttention") return &of_several;
    if (class_name == "Attention" || class_name == "AdditiveAttention") return &of_a_list;
    return nullptr;
}

/// Whether a class of layers is recurrent: it may be called with an initial state.
bool is_recurrent(std::string_view class_name) {
    constexpr std::array<std::string_view, 4> classes{"LSTM", "GRU", "SimpleRNN", "Bidirectional"};
    return std::ranges::find(classes, class_name) != classes.end();
}

/// The arguments of a call of a layer, by name.
json named_arguments(const json& call, const std::string& place, const std::vector<std::string>& parameters) {
    json named = json::object();
    if (call.is_object()) {
        const json* const in_order = optional_member(&call, "args");
        for (std::size_t i = 0; in_order != nullptr && i < in_order->size(); ++i) {
            if (!in_order->is_array() || i >= parameters.size()) {
                throw ModelError(fmt::format("{} is called with {}; that is not a list of its inputs", place,
                                             describe(*in_order)));
            }
            named[parameters[i]] = (*in_order)[i];
        }
        const json* const by_name = optional_member(&call, "kwargs");
        if (by_name != nullptr && by_name->is_object()) named.update(*by_name);
        return named;
    }
    // Keras 2 writes the first argument alone, and the others behind its first tensor.
    json first = json::array();
    for (const json& tensor : is_result(call) ? json::array({call}) : call) {
        constexpr std::size_t others = 3;
        const bool has_others = is_result(tensor) && tensor.size() > others && tensor[others].is_object();
        if (has_others && first.empty()) named.update(tensor[others]);
        first.push_back(is_result(tensor) ? json::array({tensor[0], tensor[1], tensor[2]}) : tensor);
    }
    named[parameters.front()] = std::move(first);
    return named;
}

/// Appends the truth values of nested lists to `values`, and the lengths of the lists to `lengths`. False if
/// lists of one depth differ in length, or if there are other values.
bool collect_truths(const json& value, std::size_t depth, std::vector<std::size_t>& lengths,
                    std::vector<int>& values) {
    if (!value.is_array()) {
        const bool is_truth = value.is_boolean() || value == 0 || value == 1;
        const bool meets = value.is_boolean() ? value.get<bool>() : value == 1;
        if (is_truth) values.push_back(meets ? 1 : 0);
        return is_truth && depth == lengths.size();
    }
    if (depth == lengths.size() && values.empty()) lengths.push_back(value.size());
    if (depth >= lengths.size() || lengths[depth] != value.size() || value.empty()) return false;
    return std::ranges::all_of(
        value, [&](const json& element) { return collect_truths(element, depth + 1, lengths, values); });
}

/// What one call of a layer of attention reads: the query, the value and, if it is given, the key. Other
/// arguments are added to `arguments`.
std::vector<NamedResult> read_attention_call(const json& call, const std::string& place,
                                             const std::vector<std::string>& parameters, json& arguments) {
    constexpr std::array<std::string_view, 4> inputs{"inputs", "query", "value", "key"};
    constexpr std::string_view mask = "attention_mask";
    const json named = named_arguments(call, place, parameters);
    std::vector<NamedResult> results;
    for (const std::string_view input : inputs) {
        const json* const tensors = optional_member(&named, input.data());
        const bool must_be_given =
            input != inputs.back() && std::ranges::find(parameters, input) != parameters.end();
        if (tensors == nullptr && must_be_given) {
            throw ModelError(
                fmt::format("{} is called without {}; it must be given", place, in_quotes(input)));
        }
        if (tensors == nullptr) continue;
        if (call.is_object()) {
            collect_tensors(*tensors, place, results);
        } else {
            collect_results(*tensors, place, results);
        }
    }
    for (const auto& [key, value] : named.items()) {
        if (is_harmless(key, value) || std::ranges::find(inputs, key) != inputs.end()) continue;
        if (key == "use_causal_mask" || key == "return_attention_scores") {
            arguments[key] = value;
            continue;
        }
        if (key != mask || is_keras_tensor(value) || is_result(value)) {
            throw ModelError(fmt::format(
                "{} is called with {}; only inputs, \"use_causal_mask\" and an \"attention_mask\" that is a "
                "constant are supported",
                place, key == mask ? "an \"attention_mask\" that it computes" : in_quotes(key)));
        }
        std::vector<std::size_t> lengths;
        std::vector<int> values;
        if (!value.is_array() || !collect_truths(value, 0, lengths, values)) {
            throw ModelError(
                fmt::format("{} is called with an \"attention_mask\" that is {}; it must be an "
                            "array of truth values",
                            place, describe(value)));
        }
        arguments[std::string(mask)] = values;
        arguments["attention_mask_shape"] = lengths;
    }
    return results;
}

/// What one call of a recurrent layer reads: the sequence, and the initial state if it is given.
std::vector<NamedResult> read_recurrent_call(const json& call, const std::string& place) {
    static const std::vector<std::string> parameters{"sequences", "initial_state", "mask", "training"};
    const json named = named_arguments(call, place, parameters);
    std::vector<NamedResult> results;
    for (const char* const input : {"sequences", "sequence", "inputs", "initial_state"}) {
        const json* const tensors = optional_member(&named, input);
        if (tensors == nullptr || tensors->is_null()) continue;
        if (call.is_object()) {
            collect_tensors(*tensors, place, results);
        } else {
            collect_results(*tensors, place, results);
        }
    }
    for (const auto& [key, value] : named.items()) {
        const bool is_input =
            key == "sequences" || key == "sequence" || key == "inputs" || key == "initial_state";
        if (is_input || is_harmless(key, value)) continue;
        throw ModelError(
            fmt::format("{} is called with {}; only a sequence and an \"initial_state\" are supported", place,
                        in_quotes(key)));
    }
    return results;
}

/// A call in a model, with the positions of what it reads.
struct Source {
    std::size_t member = 0;
    std::size_t call = 0;
    std::size_t index = 0;
};

struct Model;

/// A layer or a model in the list of a model.
struct Member {
    std::string name;
    std::size_t layer = 0;               ///< in KerasModelConfig::layers, unless it is a model
    std::unique_ptr<const Model> model;  ///< null for a layer
    std::vector<std::vector<Source>> calls;
    std::vector<json> arguments;  ///< of each call, beside the inputs; none if no call has any
};

struct Model {
    std::vector<Member> members;
    std::vector<Source> inputs;
    std::vector<Source> outputs;
    /// The calls that the outputs need, each after those it reads; those of inputs excluded.
    std::vector<Source> order;
};

/// Finds the order of a model's calls.
class CallOrder {
public:
    explicit CallOrder(const std::vector<Member>& members) : members_(members) {
        for (const Member& one : members) states_.emplace_back(one.calls.size(), State::Unseen);
    }

    void mark_done(const Source& call) { state(call) = State::Done; }
    bool is_done(std::size_t layer, std::size_t call) const { return states_[layer][call] == State::Done; }

    /// Appends the calls that one needs and that are not done yet.
    void append(const Source& output, std::vector<Source>& order) {
        if (state(output) == State::Done) return;
        // Depth first without recursion: a file may describe a chain of any length.
        std::vector<Visit> path{{output, 0}};
        state(output) = State::OnPath;
        while (!path.empty()) {
            auto& [call, next_input] = path.back();
            const std::vector<Source>& inputs = members_[call.member].calls[call.call];
            if (next_input == inputs.size()) {
                state(call) = State::Done;
                order.push_back(call);
                path.pop_back();
                continue;
            }
            const Source input = inputs[next_input++];
            if (state(input) == State::OnPath) {
                throw ModelError(
                    fmt::format("{}: it depends on its own result", place_of(members_[input.member].name)));
            }
            if (state(input) == State::Done) continue;
            state(input) = State::OnPath;
            path.push_back({input, 0});
        }
    }

private:
    enum class State : std::uint8_t { Unseen, OnPath, Done };
    struct Visit {
        Source call;
        std::size_t next_input;
    };

    State& state(const Source& call) { return states_[call.member][call.call]; }

    const std::vector<Member>& members_;
    std::vector<std::vector<State>> states_;
};

/// The shape of the input of a layer or model, batch first, wherever the file has it; null if nowhere.
const json* input_shape_of(const json& description) {
    const json* const config = optional_member(&description, "config");
    for (const char* const key : {"batch_input_shape", "batch_shape", "build_input_shape"}) {
        if (const json* const shape = optional_member(config, key)) return shape;
    }
    const json* const layers =
        config != nullptr && config->is_array() ? config : optional_member(config, "layers");
    if (layers != nullptr && layers->is_array() && !layers->empty()) {
        if (const json* const shape = input_shape_of(layers->front())) return shape;
    }
    return optional_member(optional_member(&description, "build_config"), "input_shape");
}

bool is_model(std::string_view class_name) {
    constexpr std::array<std::string_view, 3> classes{"Sequential", "Functional", "Model"};
    return std::ranges::find(classes, class_name) != classes.end();
}

/// The class of a layer. One that somebody registered under a name of his own is another class, whatever it
/// is called.
std::string class_of(const json& description, const std::string& place) {
    const std::string& class_name = text_member(description, "class_name", place);
    const json* const registered = optional_member(&description, "registered_name");
    const json* const module = optional_member(&description, "module");
    const auto has = [](const json* text, const char* part) {
        return text != nullptr && text->is_string() &&
               text->get_ref<const std::string&>().find(part) != std::string::npos;
    };
    if (has(registered, ">")) return registered->get<std::string>();
    if (has(module, ".ops.")) {
        return "ops." + class_name;  // a function, of which some have the name of a layer
    }
    // One class with two names: that of the public interface, and Python's own.
    return class_name == "GroupedQueryAttention" ? "GroupQueryAttention" : class_name;
}

/// Lists the calls of layers that the calls of models consist of.
class CallLister {
public:
    explicit CallLister(KerasModelConfig& config) : config_(config), calls_(config.layers.size(), 0) {}

    void list(const Model& model) {
        std::vector<KerasResult> inputs;
        for (const Source& input : model.inputs) {
            inputs.push_back({add(model.members[input.member], input.call, {}), 0});
        }
        config_.outputs = list_calls(model, inputs);
    }

private:
    /// One model can be called from another, and so on; a small file could describe endless work.
    static constexpr std::size_t most_calls = 200000;

    void count(std::size_t calls) {
        listed_ += calls;
        if (listed_ <= most_calls) return;
        throw ModelError(fmt::format("model_config: its layers are called more than {} times", most_calls));
    }

    std::size_t add(const Member& layer, std::size_t call, std::vector<KerasResult> inputs) {
        const std::size_t number = ++calls_[layer.layer];
        const std::string& name = config_.layers[layer.layer].name;
        config_.calls.push_back({.layer = layer.layer,
                                 .name = number == 1 ? name : fmt::format("{} (call {})", name, number),
                                 .inputs = std::move(inputs)});
        if (call < layer.arguments.size()) config_.calls.back().arguments = layer.arguments[call];
        return config_.calls.size() - 1;
    }

    std::vector<KerasResult> list_calls(const Model& model, const std::vector<KerasResult>& inputs) {
        // The results of each call of each member; a call of a layer has any number.
        using Results = std::vector<KerasResult>;
        std::vector<std::vector<Results>> results;
        for (const Member& one : model.members) results.emplace_back(one.calls.size());
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            results[model.inputs[i].member][model.inputs[i].call] = {inputs[i]};
        }
        const auto value_of = [&](const Source& source) {
            const Results& of_call = results[source.member][source.call];
            const Member& one = model.members[source.member];
            if (one.model == nullptr) return KerasResult{of_call[0].call, of_call[0].index + source.index};
            if (source.index < of_call.size()) return of_call[source.index];
            throw ModelError(fmt::format("{}: result {} is read; it has {}", place_of(one.name), source.index,
                                         counted(of_call.size(), "output")));
        };
        for (const Source& call : model.order) {
            const Member& one = model.members[call.member];
            count(1 + one.calls[call.call].size());
            Results read;
            for (const Source& source : one.calls[call.call]) read.push_back(value_of(source));
            if (one.model == nullptr) {
                results[call.member][call.call] = {{add(one, call.call, std::move(read)), 0}};
                continue;
            }
            if (read.size() != one.model->inputs.size()) {
                throw ModelError(fmt::format("{}: it is called with {}; it has {}", place_of(one.name),
                                             counted(read.size(), "tensor"),
                                             counted(one.model->inputs.size(), "input")));
            }
            results[call.member][call.call] = list_calls(*one.model, read);
        }
        Results outputs;
        for (const Source& output : model.outputs) outputs.push_back(value_of(output));
        return outputs;
    }

    KerasModelConfig& config_;
    std::vector<std::size_t> calls_;  ///< of each layer so far
    std::size_t listed_ = 0;          ///< calls and inputs of calls
};

/// Reads models, nested ones too, and collects their layers.
class ModelReader {
public:
    ModelReader(const json* outermost_shape, int major_version)
        : outermost_shape_(outermost_shape), major_version_(major_version) {}

    Model read(const std::string& class_name, const json& config, const std::string& place, bool is_nested) {
        if (class_name == "Sequential") return read_sequential(config, place, is_nested);
        return read_functional(config, place);
    }

    std::vector<KerasLayer>& layers() { return layers_; }

private:
    const json& layer_list(const json& value, const std::string& place) {
        if (!value.is_array() || value.empty()) {
            throw ModelError(
                fmt::format("{}: layers is {}; it must be a list of at least one", place, describe(value)));
        }
        return value;
    }

    std::string read_name(const json& description, const std::string& place) {
        const json& config = member(description, "config", place);
        const std::string& name =
            text_member(description.contains("name") ? description : config, "name", place);
        const bool has_control_characters =
            std::ranges::any_of(name, [](unsigned char letter) { return std::iscntrl(letter) != 0; });
        if (name.empty() || has_control_characters) {
            throw ModelError(fmt::format("{}: its name is {}; it must be printable", place, in_quotes(name)));
        }
        return name;
    }

    /// The members of a model, without calls.
    std::vector<Member> read_members(const json& descriptions, const std::string& place) {
        std::vector<std::string> classes;
        std::map<std::string, std::size_t> counts;
        for (const json& description : descriptions) {
            classes.push_back(class_of(description, fmt::format("{}: layer {}", place, classes.size())));
            ++counts[classes.back()];
        }
        std::map<std::string, std::size_t> positions;
        std::vector<Member> members;
        for (const json& description : descriptions) {
            const std::string& class_name = classes[members.size()];
            Member one;
            one.name = prefix() + read_name(description, fmt::format("{}: layer {}", place, members.size()));
            steps_.push_back({.name = one.name.substr(prefix().size()),
                              .class_name = class_name,
                              .position = positions[class_name]++,
                              .count = counts[class_name]});
            read_member(class_name, description, one);
            steps_.pop_back();
            members.push_back(std::move(one));
        }
        return members;
    }

    void read_member(const std::string& class_name, const json& description, Member& one) {
        const json& config = description["config"];
        if (is_model(class_name)) {
            one.model = std::make_unique<Model>(read(class_name, config, place_of(one.name), true));
            return;
        }
        KerasLayer layer{.class_name = class_name, .name = one.name, .config = config, .steps = steps_};
        if (class_name == "TimeDistributed") layer.each_step = read_each_step(config, one);
        if (class_name == "Bidirectional") layer.directions = read_directions(config, one);
        one.layer = layers_.size();
        try {
            modernize(layer.class_name, layer.config, major_version_);
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("{}: {}", place_of(one.name), error.what()));
        }
        layers_.push_back(std::move(layer));
    }

    /// What a TimeDistributed layer applies to each step. A layer has the name of the TimeDistributed one;
    /// the layers of a model have it before their names.
    std::shared_ptr<const KerasModelConfig> read_each_step(const json& config, const Member& one) {
        const std::string place = place_of(one.name);
        const json& inner = member(config, "layer", place);
        const std::string class_name = class_of(inner, place + ": its layer");
        ModelReader reader(nullptr, major_version_);
        reader.steps_ = steps_;
        reader.steps_.push_back(
            {.name = read_name(inner, place), .class_name = class_name, .group = "layer"});
        const Model model = is_model(class_name) ? reader.read(class_name, inner["config"], place, true)
                                                 : reader.read_alone(class_name, inner, one.name);
        auto result = std::make_shared<KerasModelConfig>();
        result->layers = std::move(reader.layers_);
        CallLister(*result).list(model);
        return result;
    }

    /// The layers of a Bidirectional one. Unless the file describes the second one, it is the first one,
    /// turned.
    std::vector<KerasLayer> read_directions(const json& config, const Member& one) {
        const std::string place = place_of(one.name);
        const json* const backward = optional_member(&config, "backward_layer");
        const auto read_one = [&](const json& inner, const std::string& direction) {
            const std::string class_name = class_of(inner, fmt::format("{}: its {} layer", place, direction));
            const std::string prefix = direction + "_";
            std::string name = read_name(inner, place);
            if (name.starts_with("forward_")) name.erase(0, std::string_view("forward_").size());
            if (!name.starts_with(prefix)) name.insert(0, prefix);
            ModelReader reader(nullptr, major_version_);
            reader.steps_ = steps_;
            reader.steps_.push_back({.name = name, .class_name = class_name, .group = prefix + "layer"});
            Member member;
            member.name = fmt::format("{}/{}", one.name, direction);
            reader.read_member(class_name, inner, member);
            return std::move(reader.layers_.at(member.layer));
        };
        const json& forward = member(config, "layer", place);
        std::vector<KerasLayer> layers{read_one(forward, "forward"),
                                       read_one(backward == nullptr ? forward : *backward, "backward")};
        json& keys = layers.back().config;
        if (backward == nullptr && keys.is_object())
            keys["go_backwards"] = keys.value("go_backwards", json(false)) != true;
        if (keys.is_object()) keys["lists_opposite"] = true;
        return layers;
    }

    /// A layer and its input as a model.
    Model read_alone(const std::string& class_name, const json& description, const std::string& name) {
        Model model;
        model.members.resize(2);
        Member& input = model.members.front();
        input.name = name + "_input";
        input.layer = layers_.size();
        layers_.push_back(
            {.class_name = "InputLayer", .name = input.name, .config = json::object(), .steps = steps_});
        model.members.back().name = name;
        read_member(class_name, description, model.members.back());
        connect_in_chain(model);
        return model;
    }

    /// Lets each member be called once, with the result of the one before it.
    static void connect_in_chain(Model& model) {
        for (std::size_t i = 0; i < model.members.size(); ++i) {
            model.members[i].calls = {i == 0 ? std::vector<Source>{} : std::vector<Source>{{i - 1, 0, 0}}};
            if (i > 0) model.order.push_back({i, 0, 0});
        }
        model.inputs = {{0, 0, 0}};
        model.outputs = {{model.members.size() - 1, 0, 0}};
    }

    std::string prefix() const {
        std::string text;
        for (const LayerStep& step : steps_) text += step.name + "/";
        return text;
    }

    bool is_input(const Member& one) const {
        return one.model == nullptr && layers_[one.layer].class_name == "InputLayer";
    }

    Model read_sequential(const json& config, const std::string& place, bool is_nested) {
        const json& descriptions =
            layer_list(config.is_array() ? config : member(config, "layers", place), place);
        Model model;
        model.members = read_members(descriptions, place);
        supply_input(model.members, descriptions, config, is_nested);
        connect_in_chain(model);
        return model;
    }

    /// Adds the input that Sequential models may leave out, or its shape. A nested one reads what it is
    /// called with; the shape of another one's is in the first layer, or beside the list.
    void supply_input(std::vector<Member>& members, const json& descriptions, const json& config,
                      bool is_nested) {
        const bool has_input = is_input(members[0]);
        if (has_input && input_shape_of(descriptions[0]) != nullptr) return;
        const std::size_t first = has_input ? 1 : 0;
        const json* shape = first < descriptions.size() ? input_shape_of(descriptions[first]) : nullptr;
        if (shape == nullptr) shape = optional_member(&config, "build_input_shape");
        if (shape == nullptr && !is_nested) shape = outermost_shape_;
        if (shape == nullptr && !is_nested) {
            throw ModelError(fmt::format("{}: it has no \"batch_input_shape\"; the first layer must have one",
                                         place_of(members[0].name)));
        }
        json input{{"batch_shape", shape == nullptr ? json() : *shape}};
        if (has_input) {
            layers_[members[0].layer].config = std::move(input);
            return;
        }
        Member added;
        added.name = members[0].name + "_input";
        added.layer = layers_.size();
        layers_.push_back(
            {.class_name = "InputLayer", .name = added.name, .config = std::move(input), .steps = steps_});
        members.insert(members.begin(), std::move(added));
    }

    Model read_functional(const json& config, const std::string& place) {
        const json& descriptions = layer_list(member(config, "layers", place), place);
        Model model;
        model.members = read_members(descriptions, place);
        std::map<std::string, std::size_t> by_name;
        for (const Member& one : model.members) {
            if (!by_name.emplace(one.name.substr(prefix().size()), by_name.size()).second) {
                throw ModelError(fmt::format("{}: two layers have this name", place_of(one.name)));
            }
        }
        NamedCalls named = read_calls(descriptions, model.members);
        named.inputs = read_ends(config, "input_layers", place);
        named.outputs = read_ends(config, "output_layers", place);
        resolve(named, by_name, place, model);
        put_in_order(place, model);
        return model;
    }

    /// What the calls and the ends of a model read, by name.
    struct NamedCalls {
        std::vector<std::vector<std::vector<NamedResult>>> calls;  ///< by member and call
        std::vector<NamedResult> inputs;
        std::vector<NamedResult> outputs;
    };

    NamedCalls read_calls(const json& descriptions, std::vector<Member>& members) {
        NamedCalls named;
        for (std::size_t i = 0; i < members.size(); ++i) {
            const std::string place = place_of(members[i].name);
            const json& nodes = member(descriptions[i], "inbound_nodes", place);
            if (!nodes.is_array()) {
                throw ModelError(
                    fmt::format("{}: inbound_nodes is {}; it must be a list", place, describe(nodes)));
            }
            std::vector<std::vector<NamedResult>>& calls = named.calls.emplace_back();
            for (const json& node : nodes) calls.push_back(read_any_call(node, place, members[i]));
            // An input is there without being called.
            if (calls.empty()) calls.emplace_back();
        }
        return named;
    }

    /// A call of a member; a function becomes a layer by what it is called with. Adds the call's arguments.
    std::vector<NamedResult> read_any_call(const json& call, const std::string& place, Member& one) {
        one.arguments.emplace_back(json::object());
        if (one.model != nullptr) return read_call(call, place);
        KerasLayer& layer = layers_[one.layer];
        if (const auto* const parameters = attention_parameters(layer.class_name)) {
            return read_attention_call(call, place, *parameters, one.arguments.back());
        }
        if (is_recurrent(layer.class_name)) return read_recurrent_call(call, place);
        if (!is_function(layer.class_name)) return read_call(call, place);
        json arguments = json::object();
        std::vector<NamedResult> results = read_function_call(call, place, arguments);
        try {
            modernize_function(layer.class_name, layer.config, arguments, results.size());
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("{}: {}", place, error.what()));
        }
        return results;
    }

    std::vector<NamedResult> read_ends(const json& config, const char* key, const std::string& place) {
        std::vector<NamedResult> ends;
        collect_results(member(config, key, place), fmt::format("{}: {}", place, key), ends);
        if (ends.empty()) throw ModelError(fmt::format("{}: {} is empty", place, key));
        return ends;
    }

    static void resolve(const NamedCalls& named, const std::map<std::string, std::size_t>& by_name,
                        const std::string& place, Model& model) {
        // Some versions of Keras count the model's own definition as the first call of a nested model.
        std::vector<std::size_t> first(model.members.size(), 0);
        const auto position_of = [&](const NamedResult& result, const std::string& reader) {
            const auto found = by_name.find(result.layer);
            if (found != by_name.end()) return found->second;
            throw ModelError(fmt::format("{} names layer {}; there is none of that name", reader,
                                         in_quotes(result.layer)));
        };
        const auto look_at = [&](const NamedResult& result, const std::string& reader) {
            const std::size_t position = position_of(result, reader);
            const bool counts_definition =
                model.members[position].model != nullptr && result.call == named.calls[position].size();
            if (counts_definition) first[position] = 1;
        };
        const auto source = [&](const NamedResult& result, const std::string& reader) {
            const std::size_t position = position_of(result, reader);
            const std::size_t count = named.calls[position].size();
            if (result.call < first[position] || result.call - first[position] >= count) {
                throw ModelError(fmt::format("{} reads call {} of layer {}; the file has {} of it", reader,
                                             result.call, in_quotes(result.layer), counted(count, "call")));
            }
            return Source{position, result.call - first[position], result.index};
        };
        const auto for_each = [&](const auto& visit) {
            for (std::size_t i = 0; i < model.members.size(); ++i) {
                const std::string reader = place_of(model.members[i].name);
                for (std::size_t call = 0; call < named.calls[i].size(); ++call) {
                    for (const NamedResult& result : named.calls[i][call]) {
                        visit(
                            result, reader, [&]() -> auto& { return model.members[i].calls[call]; });
                    }
                }
            }
            for (const NamedResult& result : named.outputs) {
                visit(
                    result, place + ": output_layers", [&]() -> auto& { return model.outputs; });
            }
            for (const NamedResult& result : named.inputs) {
                visit(
                    result, place + ": input_layers", [&]() -> auto& { return model.inputs; });
            }
        };
        for (std::size_t i = 0; i < model.members.size(); ++i) {
            model.members[i].calls.resize(named.calls[i].size());
        }
        for_each([&](const NamedResult& result, const std::string& reader, const auto& /*list*/) {
            look_at(result, reader);
        });
        for_each([&](const NamedResult& result, const std::string& reader, const auto& list) {
            list().push_back(source(result, reader));
        });
    }

    void put_in_order(const std::string& place, Model& model) {
        CallOrder order(model.members);
        for (const Source& input : model.inputs) {
            const Member& one = model.members[input.member];
            if (!is_input(one)) {
                throw ModelError(fmt::format("{}: input_layers has layer {}; it must be an InputLayer", place,
                                             in_quotes(one.name)));
            }
            if (order.is_done(input.member, input.call)) {
                throw ModelError(
                    fmt::format("{}: input_layers has layer {} twice", place, in_quotes(one.name)));
            }
            order.mark_done(input);
        }
        for (const Source& output : model.outputs) order.append(output, model.order);
        for (const Source& call : model.order) {
            const Member& one = model.members[call.member];
            if (!one.calls[call.call].empty()) continue;
            throw ModelError(
                fmt::format("{}: it has no inputs and is not an input of the model", place_of(one.name)));
        }
        for (std::size_t i = 0; i < model.members.size(); ++i) {
            for (std::size_t call = 0; call < model.members[i].calls.size(); ++call) {
                if (order.is_done(i, call)) continue;
                throw ModelError(fmt::format("{}: it does not lead to an output of the model",
                                             place_of(model.members[i].name)));
            }
        }
    }

    std::vector<KerasLayer> layers_;
    std::vector<LayerStep> steps_;  ///< the nested models that are being read, and the layer
    const json* outermost_shape_;   ///< of the whole model's input, where Keras 3 has it; may be null
    int major_version_;
};

}  // namespace

void fail(const KerasLayer& layer, std::string_view rule) {
    throw ModelError(fmt::format("{}: {}", place_of(layer.name), rule));
}

KerasModelConfig parse_model_config(std::string_view text, int major_version) {
    const std::string place = "model_config";
    json description = parse_json(text, place);
    unwrap_values(description);
    const std::string& class_name = text_member(description, "class_name", place);
    const json& config = member(description, "config", place);
    if (!is_model(class_name)) {
        throw ModelError(
            fmt::format("model_config: class_name is {}; only Sequential and Functional models can be read",
                        in_quotes(class_name)));
    }
    ModelReader reader(optional_member(optional_member(&description, "build_config"), "input_shape"),
                       major_version);
    const Model model = reader.read(class_name, config, place, false);
    KerasModelConfig result;
    result.layers = std::move(reader.layers());
    CallLister(result).list(model);
    return result;
}

}  // namespace systole::frontend
