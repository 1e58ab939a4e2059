#include "sim/run/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/message_text.h"
#include "compiler/compile.h"
#include "compiler/frontend/door/read_network.h"
#include "sim/run/input/axes.h"
#include "sim/run/record/bytes.h"
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

/// The place of an input or output that a run names, by its name or else by its position. Throws ModelError.
std::size_t place_of(const ir::Graph& graph, const std::vector<ir::ValueId>& borders, std::string_view side,
                     const std::string& given) {
    for (std::size_t i = 0; i < borders.size(); ++i) {
        if (graph.values[borders[i]].name == given) return i;
    }
    if (const auto position = position_in(given, borders.size())) return *position;
    throw ModelError(
        fmt::format("{}: state names the {} {}; there are {}, by their names or positions from 0", graph.name,
                    side, in_quotes(given), borders.size()));
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

/// Adds the state that a run names to that of the file.
ir::Graph with_state(ir::Graph graph, const std::vector<StatePairs>& state) {
    for (const StatePairs& pairs : state) {
        const std::size_t input = place_of(graph, graph.inputs, "input", pairs.input);
        const std::size_t output = place_of(graph, graph.outputs, "output", pairs.output);
        if (pairs.count > graph.inputs.size() - input || pairs.count > graph.outputs.size() - output) {
            throw ModelError(fmt::format(
                "{}: state names {} inputs from {} and outputs from {} on; there are {} inputs and {} "
                "outputs",
                graph.name, pairs.count, input, output, graph.inputs.size(), graph.outputs.size()));
        }
        for (std::size_t i = 0; i < pairs.count; ++i) {
            const ir::Graph::State pair{.input = static_cast<std::uint32_t>(input + i),
                                        .output = static_cast<std::uint32_t>(output + i)};
            if (std::ranges::find(graph.state, pair) != graph.state.end()) continue;  // the file has it
            check_pair(graph, pair);
            graph.state.push_back(pair);
        }
    }
    return graph;
}

/// The network in the file; without weights in a timing-only run.
ReadNetwork read_file(const RunSpec& spec) {
    const Stopwatch time;
    frontend::ImportOptions options{.tflite_runtime = runtime_of(spec.tflite_runtime),
                                    .signature = spec.signature};
    for (const auto& [input, extents] : spec.input_shapes) {
        options.shapes.emplace(input, ir::Shape(extents));
    }
    const auto values = spec.timing_only ? frontend::WeightValues::Skipped : frontend::WeightValues::Read;
    const ir::Graph read = frontend::read_network(spec.network.value().path.text, values, options);
    // Inputs and outputs then have the order of axes that the program has.
    ir::Graph graph = naming_file(spec, read, [&] {
        return compiler::ready_for_run(with_state(read, spec.state), {.timing_only = spec.timing_only,
                                                                      .image_factor = spec.size_multiplier});
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
    seen.state = spec.state;
    seen.tflite_runtime = spec.tflite_runtime;
    seen.signature = spec.signature;
    seen.size_multiplier = spec.size_multiplier;
    return compared_bytes(seen);
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
