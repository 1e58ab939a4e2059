#include "sim/run/network_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/data_type.h"
#include "base/message_text.h"
#include "compiler/reference/index_bounds.h"
#include "compiler/reference/pixel_scaling.h"
#include "hw/machine/config_error.h"
#include "sim/run/arrays.h"
#include "sim/run/network.h"

namespace systole::run {

compiler::Batches batches_of(const RunSpec& spec, const ir::Graph& graph,
                             const std::vector<NamedImages>& inputs) {
    std::uint32_t batch = std::max(spec.compiler.batch, 1U);
    if (batch == 1) batch = graph.replicas;
    if (const NamedImages* const first = first_without_state(inputs))
        return {.batch = batch, .inferences = first->images.count};
    return {.batch = batch, .inferences = spec.compiler.limit > 0 ? spec.compiler.limit : batch};
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

namespace {

/// Up to the run's limit.
std::vector<NamedImages> limited(std::vector<NamedImages> inputs, const RunSpec& spec) {
    if (spec.compiler.limit > 0) {
        for (NamedImages& input : inputs) {
            if (!input.is_state) keep_first(input.images, spec.compiler.limit);
        }
    }
    return inputs;
}

}  // namespace

std::vector<NamedImages> read_input(const RunSpec& spec, const std::vector<InputTensor>& tensors,
                                    const std::string& name) {
    if (spec.data.input.empty()) return {};
    return limited(read_inputs(spec.data.input, tensors, spec.data.preparation, name), spec);
}

namespace {

/// Throws ConfigError unless the limit is one of whole steps, in which each replica has an inference.
void check_limit(const RunSpec& spec, const std::vector<InputTensor>& tensors, const std::string& name) {
    const std::uint32_t replicas = tensors.empty() ? 1 : tensors.front().replicas;
    if (spec.compiler.limit % replicas == 0) return;
    throw machine::ConfigError(
        fmt::format("limit is {}; {} has {} replicas, of which each has an inference in a step: it must be a "
                    "multiple of {}",
                    spec.compiler.limit, name, replicas, replicas));
}

}  // namespace

std::vector<NamedImages> array_inputs(const RunSpec& spec, const std::vector<InputTensor>& tensors,
                                      const std::string& name, std::uint64_t count) {
    check_no_preparation(spec.data.preparation, name);
    check_limit(spec, tensors, name);
    std::vector<NamedImages> inputs;
    if (spec.data.random_input == 0) {
        if (!spec.data.input.empty()) inputs = limited(read_arrays(spec.data.input, tensors, name), spec);
        return inputs;
    }
    for (const InputTensor& tensor : tensors) {
        const bool is_state = tensor.state_inferences > 0;
        inputs.push_back(random_whole_array(tensor, is_state ? tensor.state_inferences : count,
                                            spec.data.random_input + inputs.size()));
        inputs.back().input = tensor.name;
        inputs.back().is_state = is_state;
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

/// Throws InputError for a number of an input that a layer takes as an index, and that is none.
void check_indices(const ir::Graph& graph, const std::vector<NamedImages>& inputs) {
    for (const reference::IndexBounds& bounds : reference::index_bounds(graph)) {
        if (bounds.input >= inputs.size()) continue;
        const NamedImages& input = inputs[bounds.input];
        const auto check = [&](std::int64_t index) {
            if (index >= bounds.least && index <= bounds.most) return;
            throw input::InputError(
                fmt::format("{}: an element of input {} is {}; layer {} takes it as an index, which must "
                            "be from {} to {}",
                            input.name, in_quotes(graph.values[graph.inputs[bounds.input]].name), index,
                            in_quotes(graph.nodes[bounds.node].name), bounds.least, bounds.most));
        };
        if (const auto* const words = input.images.words()) {
            for (const std::uint32_t word : *words) check(static_cast<std::int32_t>(word));
        }
    }
}

}  // namespace

std::vector<NamedImages> read_input(const RunSpec& spec, const ir::Graph& graph) {
    check_takes_arrays(graph, spec.machine);
    if (takes_arrays(graph, spec.machine)) {
        std::vector<NamedImages> inputs =
            array_inputs(spec, array_tensors(graph), graph.name, batches_of(spec, graph, {}).inferences);
        if (!spec.timing_only) check_indices(graph, inputs);
        return inputs;
    }
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
    return random_inputs(spec, tensors, batches_of(spec, graph, {}).inferences);
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

std::vector<std::string> file_warnings(const std::vector<NamedImages>& inputs) {
    std::vector<std::string> warnings;
    for (const NamedImages& input : inputs)
        warnings.insert(warnings.end(), input.warnings.begin(), input.warnings.end());
    return warnings;
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
        if (inputs[i].images.words() != nullptr) continue;  // numbers of the input's own format
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

}  // namespace systole::run
