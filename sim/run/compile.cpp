#include "sim/run/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/frontend/door/read_network.h"
#include "compiler/reference/pixel_scaling.h"
#include "hw/base/conversion.h"
#include "hw/base/data_type.h"
#include "hw/machine/config_error.h"
#include "sim/run/images.h"
#include "sim/run/input/axes.h"
#include "sim/run/record/bytes.h"
#include "sim/run/stopwatch.h"

namespace systole::run {
namespace {

/// The number of input images for calibration if the run names no calibration images.
constexpr std::uint64_t calibration_images = 128;

/// The encoding in which a stored byte is a pixel, where pixels are all of the input.
std::optional<compiler::InputEncoding> pixel_encoding(const ir::Graph& graph, const RunSpec& spec,
                                                      const std::vector<NamedImages>& inputs) {
    if (std::ranges::any_of(inputs,
                            [](const NamedImages& each) { return each.images.pixels() == nullptr; })) {
        return std::nullopt;
    }
    const auto own = storage_of_pixels(normalizations_of(spec, graph).at(0));
    if (!own) return std::nullopt;
    return compiler::InputEncoding{own->scale, own->zero_point};
}

compiler::CalibrationMethod method_of(CalibrationMethod method) {
    switch (method) {
        case CalibrationMethod::MinMax:
            return compiler::CalibrationMethod::MinMax;
        case CalibrationMethod::Percentile:
            return compiler::CalibrationMethod::Percentile;
        case CalibrationMethod::LeastError:
            return compiler::CalibrationMethod::LeastError;
    }
    throw std::logic_error("a method that calibration does not know");
}

/// Throws InputError where each number of an input is 0: the ranges of all layers would follow from that.
void check_calibration(const NamedImages& named, std::span<const float> values) {
    if (std::ranges::any_of(values, [](float value) { return value != 0.0F; })) return;
    throw input::InputError(fmt::format(
        "{}: each number is 0; calibration needs images that the network typically sees", named.name));
}

compiler::Calibration calibration_of(const ir::Graph& graph, const RunSpec& spec,
                                     const std::vector<NamedImages>& inputs) {
    compiler::Calibration calibration;
    calibration.encoding = pixel_encoding(graph, spec, inputs);
    if (!graph.has_weights || ir::is_quantized(graph)) return calibration;
    const std::vector<Normalization> normalizations = normalizations_of(spec, graph);
    std::vector<NamedImages> read;
    if (!spec.data.calibration.empty()) {
        std::vector<InputFile> files;
        for (const Content& content : spec.data.calibration)
            files.push_back({.input = {}, .content = content});
        read = read_inputs(files, input_tensors(graph), spec.data.preparation, graph.name);
        for (std::size_t i = 0; i < read.size(); ++i) check_normalization(read[i], normalizations[i]);
    }
    const std::vector<NamedImages>& images = read.empty() ? inputs : read;
    if (images.empty()) {
        throw machine::ConfigError(fmt::format(
            "{}: quantization needs images that the network typically sees: give --calibration or --input",
            spec.network.value().path.text));
    }
    const std::uint64_t given = images.front().images.count;
    const std::uint64_t count = read.empty() ? std::min<std::uint64_t>(given, calibration_images) : given;
    for (std::size_t i = 0; i < images.size(); ++i) {
        std::vector<float> values = to_floats(images[i].images, 0, count, normalizations[i]);
        if (!read.empty()) check_calibration(images[i], values);
        if (i == 0) {
            calibration.inputs = std::move(values);
        } else {
            calibration.further_inputs.push_back(std::move(values));
        }
    }
    calibration.count = static_cast<std::uint32_t>(count);
    calibration.method = method_of(spec.data.calibration_method);
    return calibration;
}

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

namespace {

using ScalingLayers = std::vector<std::optional<std::string>>;

/// For each input, the layer of the network that scales its pixels, if one does.
std::vector<Normalization> normalizations_of(const RunSpec& spec, const ir::Graph& graph,
                                             const ScalingLayers& layers) {
    std::vector<Normalization> normalizations(graph.inputs.size(), program_normalization(spec));
    if (spec.data.preparation.is_given) return normalizations;
    for (std::size_t i = 0; i < normalizations.size(); ++i) {
        const DataType type = graph.values[graph.inputs[i]].type;
        if (layers[i]) normalizations[i].scale = 1.0;
        normalizations[i].as_stored = is_integer(type) && bytes_of(type) == 1;
        if (normalizations[i].as_stored) normalizations[i].lowest = lowest_of(type);
    }
    return normalizations;
}

}  // namespace

Normalization program_normalization(const RunSpec& spec) {
    const Preparation& preparation = spec.data.preparation;
    return {.scale = preparation.scale, .mean = preparation.mean, .deviation = preparation.deviation};
}

std::vector<Normalization> normalizations_of(const RunSpec& spec, const ir::Graph& graph) {
    return normalizations_of(spec, graph, reference::pixel_scaling_layers(graph));
}

std::vector<NamedImages> read_input(const RunSpec& spec, const std::vector<InputTensor>& tensors,
                                    const std::string& name) {
    if (spec.data.input.empty()) return {};
    std::vector<NamedImages> inputs = read_inputs(spec.data.input, tensors, spec.data.preparation, name);
    if (spec.compiler.limit > 0) {
        for (NamedImages& input : inputs) keep_first(input.images, spec.compiler.limit);
    }
    return inputs;
}

std::vector<NamedImages> random_inputs(const RunSpec& spec, const std::vector<InputTensor>& tensors,
                                       std::uint64_t count) {
    std::vector<NamedImages> inputs;
    for (const InputTensor& tensor : tensors) {
        // The first input has the numbers that a network of one input has.
        const std::uint64_t seed = spec.data.random_input + inputs.size();
        inputs.push_back(random_images(tensor.map(), count, seed, tensor.type == DataType::Int16));
        inputs.back().input = tensor.name;
    }
    return inputs;
}

namespace {

/// The inputs with the sizes that they have in the network's file.
std::vector<InputTensor> with_own_sizes(std::vector<InputTensor> tensors, std::uint32_t multiplier) {
    constexpr std::size_t image_rank = 3;
    for (InputTensor& tensor : tensors) {
        if (tensor.shape.size() == image_rank) {
            tensor.shape[0] /= multiplier;
            tensor.shape[1] /= multiplier;
        } else {  // an image in a line (scale_images)
            tensor.shape[0] /= multiplier * multiplier;
        }
    }
    return tensors;
}

/// Images of files: of the size that the network takes, or, for a run without values on larger images, of the
/// size that it takes in its file: their number is all that such a run needs of them.
std::vector<NamedImages> read_files(const RunSpec& spec, const std::vector<InputTensor>& tensors,
                                    const std::string& name) {
    if (spec.size_multiplier == 1) return read_input(spec, tensors, name);
    try {
        std::vector<NamedImages> inputs =
            read_input(spec, with_own_sizes(tensors, spec.size_multiplier), name);
        for (NamedImages& input : inputs) {  // as those of the larger network, whose values nothing reads
            input.images.height *= spec.size_multiplier;
            input.images.width *= spec.size_multiplier;
            drop_values(input.images);
        }
        return inputs;
    } catch (const input::InputError&) {
        return read_input(spec, tensors, name);
    }
}

}  // namespace

std::vector<NamedImages> read_input(const RunSpec& spec, const ir::Graph& graph) {
    std::vector<InputTensor> tensors = input_tensors(graph);
    if (spec.data.random_input == 0) {
        std::vector<NamedImages> inputs = read_files(spec, tensors, graph.name);
        if (inputs.empty()) return inputs;
        // Where some inputs are images, the others' numbers are as they are.
        const bool has_images = std::ranges::any_of(
            inputs, [](const NamedImages& each) { return each.images.pixels() != nullptr; });
        const std::vector<Normalization> normalizations = normalizations_of(spec, graph);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (has_images && inputs[i].images.pixels() == nullptr) continue;
            check_normalization(inputs[i], normalizations[i]);
        }
        return inputs;
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const ir::Value& value = graph.values[graph.inputs[i]];
        const bool wide = !ir::is_quantized(graph) && value.stored_as == DataType::Int16;
        if (wide) tensors[i].type = DataType::Int16;
    }
    return random_inputs(spec, tensors, batches_of(spec, {}).inferences);
}

std::vector<PixelScaling> own_scaling(const RunSpec& spec, const ir::Graph& graph,
                                      const std::vector<NamedImages>& inputs) {
    std::vector<PixelScaling> scaling;
    if (spec.data.preparation.is_given) return scaling;
    const ScalingLayers layers = reference::pixel_scaling_layers(graph);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (layers[i] && inputs[i].images.pixels() != nullptr) {
            scaling.push_back({.input = graph.values[graph.inputs[i]].name, .layer = *layers[i]});
        }
    }
    return scaling;
}

std::vector<std::string> scale_warnings(const RunSpec& spec, const ir::Graph* graph,
                                        std::span<const isa::BorderTensor> tensors,
                                        const std::vector<NamedImages>& inputs) {
    std::vector<std::string> warnings;
    if (spec.data.input.empty() || spec.timing_only) return warnings;
    const ScalingLayers layers =
        graph == nullptr ? ScalingLayers(inputs.size()) : reference::pixel_scaling_layers(*graph);
    const std::vector<Normalization> normalizations =
        graph == nullptr ? std::vector<Normalization>(inputs.size(), program_normalization(spec))
                         : normalizations_of(spec, *graph, layers);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Normalization& normalization = normalizations[i];
        if (auto warning = orientation_warning(inputs[i])) warnings.push_back(*std::move(warning));
        if (layers[i]) {
            if (auto warning = scaled_twice_warning(inputs[i], normalization, *layers[i])) {
                warnings.push_back(*std::move(warning));
            }
            continue;
        }
        if (!normalization.mean.empty() || !normalization.deviation.empty()) continue;
        if (normalization.as_stored && inputs[i].images.pixels() != nullptr) continue;
        const double scale = normalization.scale;
        std::optional<std::string> warning;
        if (graph != nullptr && !ir::is_quantized(*graph)) {
            const ir::Value& input = graph->values[graph->inputs[i]];
            const bool takes_bytes = is_integer(input.type) && !input.quantization;
            warning =
                scale_warning(inputs[i], scale, takes_bytes ? highest_of(input.type) : most_pixel * scale);
        } else if (i < tensors.size() && tensors[i].type != DataType::Float32) {
            const Storage storage = tensors[i].storage();
            warning = scale_warning(inputs[i], scale, storage.real(highest_of(storage.type)));
        }
        if (warning) warnings.push_back(*std::move(warning));
    }
    return warnings;
}

std::vector<std::string> storage_warnings(const RunSpec& spec, std::span<const isa::BorderTensor> tensors,
                                          const std::vector<NamedImages>& inputs) {
    std::vector<std::string> warnings;
    if (spec.timing_only || spec.data.random_input > 0) return warnings;
    for (std::size_t i = 0; i < inputs.size() && i < tensors.size(); ++i) {
        const Storage storage = tensors[i].storage();
        if (!is_integer(storage.type)) continue;
        if (auto warning = storage_warning(inputs[i], storage)) {
            warnings.push_back(*std::move(warning));
        }
    }
    return warnings;
}

ir::Graph quantize(const ir::Graph& graph, const RunSpec& spec, const std::vector<NamedImages>& inputs,
                   const compiler::PassObserver& observer) {
    return compiler::prepare(graph, calibration_of(graph, spec, inputs), observer);
}

compiler::QuantizedNetwork quantize_beside_float(const ir::Graph& graph, const RunSpec& spec,
                                                 const std::vector<NamedImages>& inputs) {
    return compiler::prepare_beside_float(graph, calibration_of(graph, spec, inputs));
}

std::string mapping_key(const RunSpec& spec) {
    const machine::Mapping& mapping = spec.compiler.mapping;
    std::string key = compiler::machine_key(spec.machine, mapping);
    if ((mapping.pipeline || mapping.compare) && spec.host) key += nlohmann::json(*spec.host).dump();
    return key;
}

compiler::Batches batches_of(const RunSpec& spec, const std::vector<NamedImages>& inputs) {
    const std::uint32_t batch = std::max(spec.compiler.batch, 1U);
    if (!inputs.empty()) return {.batch = batch, .inferences = inputs.front().images.count};
    return {.batch = batch, .inferences = spec.compiler.limit > 0 ? spec.compiler.limit : batch};
}

}  // namespace systole::run
