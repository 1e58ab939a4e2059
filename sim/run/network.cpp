#include "sim/run/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/message_text.h"
#include "base/name_pattern.h"
#include "compiler/compile.h"
#include "compiler/frontend/door/read_network.h"
#include "sim/run/input/axes.h"
#include "sim/run/record/bytes.h"
#include "sim/run/shapes_of_data.h"
#include "sim/run/stopwatch.h"

namespace systole::run {
namespace {

std::optional<frontend::TfliteRuntime> runtime_of(TfliteRuntime runtime) {
    switch (runtime) {
        case TfliteRuntime::Newest:
            return std::nullopt;
        case TfliteRuntime::V2_19:
            return frontend::TfliteRuntime::V2_19;
        case TfliteRuntime::V2_21:
            return frontend::TfliteRuntime::V2_21;
    }
    throw std::logic_error("a TFLite runtime that does not exist");
}

/// The position of an input or output that a run names, by its name or else by its position; absent if there
/// is none.
std::optional<std::size_t> find_border(const std::vector<std::string>& names, const std::string& given) {
    const auto found = std::ranges::find(names, given);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    return position_in(given, names.size());
}

/// An input and the output that replaces it, by their positions among those that the network computes.
struct BorderPair {
    std::optional<std::uint32_t> input;  ///< absent of an input without elements
    std::uint32_t output = 0;
};

/// A pair for each output that fits a pattern.
std::vector<StatePairs> pairs_of_pattern(const ir::Graph& graph, const StatePairs& pattern) {
    std::vector<StatePairs> pairs;
    for (const FileOutput& output : outputs_of_file(graph)) {
        if (const auto text = text_of_star(output.name, pattern.output))
            pairs.push_back({.input = with_star(pattern.input, *text), .output = output.name});
    }
    return pairs;
}

/// The pairs of all patterns, and those without a pattern as they are.
std::vector<StatePairs> without_patterns(const ir::Graph& graph, const std::vector<StatePairs>& named) {
    std::vector<StatePairs> all;
    for (const StatePairs& pairs : named) {
        if (std::ranges::count(pairs.output, '*') == 0) {
            all.push_back(pairs);
            continue;
        }
        const std::vector<StatePairs> of_pattern = pairs_of_pattern(graph, pairs);
        if (of_pattern.empty()) {
            throw ModelError(fmt::format("{}: cache names the outputs {}; there are none", graph.name,
                                         in_quotes(pairs.output)));
        }
        all.insert(all.end(), of_pattern.begin(), of_pattern.end());
    }
    return all;
}

bool has_empty_input(const ir::Graph& graph, const std::string& name) {
    return std::ranges::find(graph.empty_inputs.names, name) != graph.empty_inputs.names.end();
}

/// The pairs that a run names; `what` begins the messages. Throws ModelError.
std::vector<BorderPair> pairs_of(const ir::Graph& graph, const std::vector<StatePairs>& named,
                                 std::string_view what) {
    std::vector<std::string> inputs;
    for (const ir::ValueId id : graph.inputs) inputs.push_back(graph.values[id].name);
    const std::vector<FileOutput> outputs = outputs_of_file(graph);
    const auto fail_without = [&](std::string_view side, const std::string& given, std::size_t count) {
        throw ModelError(
            fmt::format("{}: {} names the {} {}; there are {}, by their names or positions from "
                        "0",
                        graph.name, what, side, in_quotes(given), count));
    };
    std::vector<BorderPair> found;
    for (const StatePairs& pairs : named) {
        const std::optional<std::size_t> input = find_border(inputs, pairs.input);
        const bool is_empty = !input && has_empty_input(graph, pairs.input);
        if (!input && !is_empty) fail_without("input", pairs.input, inputs.size());
        const std::optional<std::size_t> output = find_output(outputs, pairs.output);
        if (!output) fail_without("output", pairs.output, outputs.size());
        if (is_empty) {
            if (!outputs[*output].place) fail_without("output", pairs.output, outputs.size());
            found.push_back({.input = {}, .output = static_cast<std::uint32_t>(*outputs[*output].place)});
            continue;
        }
        if (pairs.count > inputs.size() - *input || pairs.count > outputs.size() - *output) {
            throw ModelError(
                fmt::format("{}: {} names {} inputs from {} and outputs from {} on; there are {} inputs "
                            "and {} outputs",
                            graph.name, what, pairs.count, *input, *output, inputs.size(), outputs.size()));
        }
        for (std::size_t i = 0; i < pairs.count; ++i) {
            const FileOutput& after = outputs[*output + i];
            if (!after.place) {
                throw ModelError(fmt::format("{}: {} pairs input {} with output {}, which is a constant",
                                             graph.name, what, in_quotes(inputs[*input + i]),
                                             in_quotes(after.name)));
            }
            found.push_back({.input = static_cast<std::uint32_t>(*input + i),
                             .output = static_cast<std::uint32_t>(*after.place)});
        }
    }
    return found;
}

void check_pair(const ir::Graph& graph, const ir::Graph::State& pair) {
    const ir::Value& before = graph.values[graph.inputs[pair.input]];
    const ir::Value& after = graph.values[graph.outputs[pair.output]];
    const auto told = [](const ir::Value& value) {
        return fmt::format("{} {}{}", name_of(value.file_type.value_or(value.type)), to_text(value.shape),
                           value.split_axis ? fmt::format(", split along axis {}", *value.split_axis) : "");
    };
    if (told(before) == told(after)) return;
    throw ModelError(fmt::format("{}: state pairs input {}, which is {}, with output {}, which is {}",
                                 graph.name, in_quotes(before.name), told(before), in_quotes(after.name),
                                 told(after)));
}

/// Throws unless neither the input nor the output is state with another one.
void check_unpaired(const ir::Graph& graph, const ir::Graph::State& pair) {
    for (const ir::Graph::State& other : graph.state) {
        if (other.input != pair.input && other.output != pair.output) continue;
        const auto name = [](const ir::Value& value) { return in_quotes(value.name); };
        const auto told = [&](const ir::Graph::State& state) {
            return fmt::format("input {} with output {}", name(graph.values[graph.inputs[state.input]]),
                               name(graph.values[graph.outputs[state.output]]));
        };
        throw ModelError(fmt::format("{}: state pairs {}, and {}; each is in one pair", graph.name,
                                     told(other), told(pair)));
    }
}

/// Adds the state that a run names to that of the file.
ir::Graph with_state(ir::Graph graph, const std::vector<StatePairs>& state) {
    for (const BorderPair& named : pairs_of(graph, state, "state")) {
        if (!named.input) {
            throw ModelError(fmt::format("{}: state pairs an input without elements with output {}",
                                         graph.name,
                                         in_quotes(graph.values[graph.outputs[named.output]].name)));
        }
        const ir::Graph::State pair{.input = *named.input, .output = named.output};
        if (std::ranges::find(graph.state, pair) != graph.state.end()) continue;  // the file has it
        check_unpaired(graph, pair);
        check_pair(graph, pair);
        graph.state.push_back(pair);
    }
    return graph;
}

/// What exporters call caches and the outputs that replace them.
constexpr std::array<std::pair<const char*, const char*>, 5> usual_names{
    {{"past_key_values.*", "present.*"},
     {"past_key_values.*", "present_key_values.*"},
     {"past_key_values*", "present_key_values*"},
     {"past*", "present*"},
     {"cache*", "new_cache*"}}};

/// The caches of a decoder's step whose run names none, by these names.
std::vector<StatePairs> usual_caches(const ir::Graph& graph, const DecoderStep& step) {
    const auto is_input = [&](const StatePairs& pair) {
        const auto has_name = [&](ir::ValueId id) { return graph.values[id].name == pair.input; };
        return has_empty_input(graph, pair.input) || std::ranges::any_of(graph.inputs, has_name);
    };
    for (const auto& [input, output] : usual_names) {
        std::vector<StatePairs> pairs = pairs_of_pattern(graph, {.input = input, .output = output});
        if (!pairs.empty() && std::ranges::all_of(pairs, is_input)) return pairs;
    }
    if (step.cached_tokens == 0 && graph.empty_inputs.names.empty()) return {};
    throw ModelError(fmt::format(
        "{}: cached_tokens is {}; no inputs and outputs have the usual names of caches, such as past.* and "
        "present.*: name them with the key cache",
        graph.name, step.cached_tokens));
}

/// Adds the caches that a run names, or those of its step.
ir::Graph with_caches(ir::Graph graph, const RunSpec& spec) {
    const std::vector<StatePairs> names =
        spec.step && spec.caches.empty() ? usual_caches(graph, *spec.step) : spec.caches;
    if (names.empty()) return graph;
    for (const BorderPair& pair : pairs_of(graph, without_patterns(graph, names), "cache")) {
        const ir::Value& after = graph.values[graph.outputs[pair.output]];
        const auto same = [&](const ir::Graph::Cache& other) {
            return other.output == pair.output || (pair.input && other.input == pair.input);
        };
        if (std::ranges::any_of(graph.caches, same)) {
            throw ModelError(fmt::format("{}: cache names output {}, or its input, twice", graph.name,
                                         in_quotes(after.name)));
        }
        if (pair.input) {
            const ir::Value& before = graph.values[graph.inputs[*pair.input]];
            const auto type = [](const ir::Value& value) { return value.file_type.value_or(value.type); };
            if (type(before) != type(after) || !ir::longer_axis(before.shape, after.shape)) {
                throw ModelError(fmt::format(
                    "{}: cache pairs input {}, which is {} {}, with output {}, which is {} {}; the "
                    "output must be longer along one axis and equal along all others",
                    graph.name, in_quotes(before.name), name_of(type(before)), to_text(before.shape),
                    in_quotes(after.name), name_of(type(after)), to_text(after.shape)));
            }
        }
        graph.caches.push_back({.input = pair.input, .output = pair.output});
    }
    // The graph of the file has no fault: it is one of the caches, such as one of state.
    if (const auto fault = ir::find_fault(graph)) throw ModelError(fmt::format("{}: {}", graph.name, *fault));
    return graph;
}

/// The network in the file; without weights in a timing-only run. Sizes that the file leaves open, and that
/// nobody gives, are those of the data.
ReadNetwork read_file(const RunSpec& spec) {
    const Stopwatch time;
    frontend::ImportOptions options{.tflite_runtime = runtime_of(spec.tflite_runtime),
                                    .signature = spec.signature};
    for (const auto& [input, extents] : spec.input_shapes)
        options.shapes.given.emplace(input, ir::Shape(extents));
    for (const auto& [input, extents] : shapes_of_data(spec.data.input))
        options.shapes.of_data.emplace(input, ir::Shape(extents));
    if (spec.step) {
        options.shapes.step = frontend::DecoderStep{.new_tokens = spec.step->new_tokens,
                                                    .cached_tokens = spec.step->cached_tokens};
    }
    const auto values = spec.timing_only ? frontend::WeightValues::Skipped : frontend::WeightValues::Read;
    const ir::Graph read = frontend::read_network(spec.network.value().path.text, values, options);
    // Inputs and outputs then have the order of axes that the program has.
    ir::Graph graph = naming_file(spec, read, [&] {
        return compiler::ready_for_run(
            with_caches(with_state(read, spec.state), spec),
            {.timing_only = spec.timing_only, .image_factor = spec.size_multiplier});
    });
    return {.graph = std::move(graph), .seconds = time.seconds()};
}

/// Networks without weights that this process has read, the last used first.
class KnownNetworks {
public:
    /// The network of this key, which `read` gives if it is not known.
    template <class Read>
    const ReadNetwork& find(const std::string& key, const Read& read) {
        const std::lock_guard lock(mutex_);
        const auto known = std::ranges::find(networks_, key, [](const auto& each) { return each.first; });
        if (known != networks_.end()) {
            networks_.splice(networks_.begin(), networks_, known);
        } else {
            networks_.emplace_front(key, read());
            constexpr std::size_t most = 8;
            if (networks_.size() > most) networks_.pop_back();
        }
        return networks_.front().second;
    }

private:
    std::mutex mutex_;
    std::list<std::pair<std::string, ReadNetwork>> networks_;
};

/// All that a network without weights depends on.
std::string network_key(const RunSpec& spec) {
    RunSpec seen;
    seen.network = spec.network;
    seen.input_shapes = spec.input_shapes;
    std::ranges::copy(shapes_of_data(spec.data.input), std::back_inserter(seen.input_shapes));
    seen.state = spec.state;
    seen.step = spec.step;
    seen.caches = spec.caches;
    seen.tflite_runtime = spec.tflite_runtime;
    seen.signature = spec.signature;
    seen.size_multiplier = spec.size_multiplier;
    return std::to_string(spec.input_shapes.size()) + compared_bytes(seen);
}

}  // namespace

void throw_with_file(const ModelError& error, const RunSpec& spec, const ir::Graph& graph) {
    std::string_view rule = error.what();
    const std::string name = graph.name + ": ";
    if (rule.starts_with(name)) rule.remove_prefix(name.size());
    throw ModelError(fmt::format("{}: {}", spec.network.value().path.text, rule));
}

std::optional<std::size_t> position_in(std::string_view text, std::size_t size) {
    std::size_t position = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, position);
    if (error != std::errc() || stopped != end || position >= size) return std::nullopt;
    return position;
}

std::vector<FileOutput> outputs_of_file(const ir::Graph& graph) {
    std::vector<FileOutput> outputs;
    for (std::size_t i = 0; i < graph.outputs.size(); ++i)
        outputs.push_back({.name = graph.values[graph.outputs[i]].name, .place = i});
    // In ascending order of their places.
    for (const auto& [place, value] : graph.constant_outputs) {
        outputs.insert(outputs.begin() + static_cast<std::ptrdiff_t>(std::min(place, outputs.size())),
                       FileOutput{.name = value.name, .place = {}});
    }
    return outputs;
}

std::optional<std::size_t> find_output(const std::vector<FileOutput>& outputs, const std::string& given) {
    std::vector<std::string> names;
    names.reserve(outputs.size());
    for (const FileOutput& output : outputs) names.push_back(output.name);
    return find_border(names, given);
}

ReadNetwork read_model(const RunSpec& spec) {
    if (!spec.timing_only) return read_file(spec);
    static KnownNetworks known;
    return known.find(network_key(spec), [&] { return read_file(spec); });
}

InferenceAxes axes_of_inference(const ir::Value& value) {
    const auto extents = value.shape.extents();
    InferenceAxes axes;
    const bool moves_first = !value.file_axes.empty() && value.file_axes.front() != 0;
    axes.has_batch = extents.empty() || (extents.front() == 1 && !moves_first);
    const auto kept = !extents.empty() && axes.has_batch ? extents.subspan(1) : extents;
    axes.extents.assign(kept.begin(), kept.end());
    axes.file_axes = axes.has_batch ? input::axes_of_inference(value.file_axes) : value.file_axes;
    return axes;
}

std::vector<InputTensor> input_tensors(const ir::Graph& graph) {
    std::vector<InputTensor> tensors;
    for (const ir::ValueId id : graph.inputs) {
        const ir::Value& value = graph.values[id];
        InferenceAxes axes = axes_of_inference(value);
        if (axes.extents.empty()) axes = {.extents = {1}};  // a number
        tensors.push_back({.name = value.name,
                           .shape = std::move(axes.extents),
                           .file_axes = std::move(axes.file_axes),
                           .type = value.type});
    }
    return tensors;
}

}  // namespace systole::run
