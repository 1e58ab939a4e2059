#include "sim/run/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

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
        return compiler::ready_for_run(
            read, {.timing_only = spec.timing_only, .image_factor = spec.size_multiplier});
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
