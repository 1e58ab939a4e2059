#include "sim/run/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/frontend/frontend.h"
#include "compiler/operators/lowering.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/calibrate.h"
#include "compiler/passes/drop_weights.h"
#include "compiler/passes/prepare.h"
#include "hw/base/data_type.h"
#include "hw/machine/config_error.h"
#include "hw/timing/matrix_unit.h"
#include "sim/run/images.h"

namespace systole::run {
namespace {

/// The number of input images for calibration if the run names no calibration images.
constexpr std::uint64_t calibration_images = 128;

passes::Calibration calibration_of(const ir::Graph& graph, const RunSpec& spec,
                                   const std::optional<NamedImages>& input) {
    passes::Calibration calibration;
    const bool takes_pixels = !input || input->images.pixels() != nullptr;
    const Normalization normalization = normalization_of(spec, &graph);
    if (const auto own = storage_of_pixels(normalization); takes_pixels && own) {
        calibration.encoding = passes::InputEncoding{own->scale, own->zero_point};
    }

    if (!graph.has_weights || operators::is_quantized(graph)) return calibration;
    std::optional<NamedImages> read;
    if (!spec.data.calibration.empty()) {
        read = read_images(spec.data.calibration, input_tensor(graph), spec.data.preparation, graph.name);
        check_normalization(*read, normalization);
    }
    const std::optional<NamedImages>& images = read ? read : input;
    if (!images) {
        throw machine::ConfigError(fmt::format(
            "{}: quantization needs images that the network typically sees: give --calibration or --input",
            spec.network.value().path.text));
    }
    const std::uint64_t count =
        read ? images->images.count : std::min<std::uint64_t>(images->images.count, calibration_images);
    calibration.inputs = to_floats(images->images, 0, count, normalization);
    calibration.count = static_cast<std::uint32_t>(count);
    return calibration;
}

schedule::LayerOrder schedule_order(LayerOrder order) {
    switch (order) {
        case LayerOrder::Rows:
            return schedule::LayerOrder::Rows;
        case LayerOrder::Layer:
            return schedule::LayerOrder::Layer;
        case LayerOrder::LayerAndWeights:
            return schedule::LayerOrder::LayerAndWeights;
    }
    throw std::logic_error("an order of layers that does not exist");
}

}  // namespace

void throw_with_file(const ModelError& error, const RunSpec& spec, const ir::Graph& graph) {
    std::string_view rule = error.what();
    const std::string name = graph.name + ": ";
    if (rule.starts_with(name)) rule.remove_prefix(name.size());
    throw ModelError(fmt::format("{}: {}", spec.network.value().path.text, rule));
}

schedule::Target target_of(const machine::MachineConfig& machine, const Mapping& mapping) {
    const auto& [join_convolutions, parts_by_delay, group_first_layers, order] = mapping;
    return {.geometry = {.rows = machine.matrix_unit.rows, .columns = machine.matrix_unit.columns},
            .accumulator_rows = machine.accumulators.rows,
            .unified_buffer_rows = machine.unified_buffer.rows,
            .weight_memory_bytes = machine.weight_memory.bytes,
            .row_sums = machine.matrix_unit.row_sums,
            .activation_delay = timing::matrix_latency(machine) + machine.activation_latency(),
            .mapping = {.join_convolutions = join_convolutions,
                        .parts_by_delay = parts_by_delay,
                        .group_first_layers = group_first_layers,
                        .order = schedule_order(order)}};
}

nlohmann::json to_json(const schedule::Target& target) {
    // The bindings name every field, so a new field does not compile until it is written here.
    const auto& [geometry, accumulator_rows, unified_buffer_rows, weight_memory_bytes, row_sums,
                 activation_delay, mapping] = target;
    const auto& [rows, columns] = geometry;
    const auto& [join_convolutions, parts_by_delay, group_first_layers, order] = mapping;
    return {{"rows", rows},
            {"columns", columns},
            {"accumulator_rows", accumulator_rows},
            {"unified_buffer_rows", unified_buffer_rows},
            {"weight_memory_bytes", weight_memory_bytes},
            {"row_sums", row_sums},
            {"activation_delay", activation_delay},
            {"join_convolutions", join_convolutions},
            {"parts_by_delay", parts_by_delay},
            {"group_first_layers", group_first_layers},
            {"order", order}};
}

ir::Graph read_model(const RunSpec& spec) {
    const std::filesystem::path path = spec.network.value().path.text;
    if (!spec.timing_only) return frontend::read_network(path, operators::registry());
    return passes::drop_weights(
        frontend::read_network(path, operators::registry(), frontend::WeightValues::Skipped));
}

InputTensor input_tensor(const ir::Graph& graph) {
    const ir::Value& value = graph.input();
    auto extents = value.shape.extents();
    if (extents.size() > 1) extents = extents.subspan(1);  // without the batch
    return {
        .name = value.name, .shape = {extents.begin(), extents.end()}, .file_axes = {}, .type = value.type};
}

Normalization normalization_of(const RunSpec& spec, const ir::Graph* graph) {
    const Preparation& preparation = spec.data.preparation;
    const bool has_bytes =
        graph != nullptr && is_integer(graph->input().type) && bytes_of(graph->input().type) == 1;
    return {.scale = preparation.scale,
            .mean = preparation.mean,
            .deviation = preparation.deviation,
            .as_stored = has_bytes && !preparation.is_given};
}

std::optional<NamedImages> read_input(const RunSpec& spec, const InputTensor& tensor,
                                      const std::string& name) {
    if (spec.data.input.empty()) return std::nullopt;
    NamedImages images =
        std::move(read_inputs(spec.data.input, {tensor}, spec.data.preparation, name).front());
    if (spec.compiler.limit > 0) keep_first(images.images, spec.compiler.limit);
    return images;
}

std::optional<NamedImages> read_input(const RunSpec& spec, const ir::Graph& graph) {
    if (spec.data.random_input == 0) {
        std::optional<NamedImages> input = read_input(spec, input_tensor(graph), graph.name);
        if (input) check_normalization(*input, normalization_of(spec, &graph));
        return input;
    }
    return random_images(graph.input_map(), options_of(spec, std::nullopt).inferences, spec.data.random_input,
                         graph.input().type == DataType::Int16 ||
                             (!operators::is_quantized(graph) && graph.input().stored_as == DataType::Int16));
}

std::optional<std::string> scale_warning(const RunSpec& spec, const ir::Graph* graph,
                                         const isa::BorderTensor* tensor, const NamedImages& images) {
    if (spec.data.input.empty() || spec.timing_only) return std::nullopt;
    const Normalization normalization = normalization_of(spec, graph);
    if (!normalization.mean.empty() || !normalization.deviation.empty()) return std::nullopt;
    if (normalization.as_stored && images.images.pixels() != nullptr) return std::nullopt;
    const double scale = normalization.scale;
    if (graph != nullptr && !operators::is_quantized(*graph)) {
        return scale_warning(images, scale, most_pixel * scale);
    }
    if (tensor == nullptr) return std::nullopt;
    return scale_warning(images, scale, tensor->scale * (highest_of(tensor->type) - tensor->zero_point));
}

ir::Graph quantize(const ir::Graph& graph, const RunSpec& spec, const std::optional<NamedImages>& input,
                   const passes::PassObserver& observer) {
    return passes::prepare(graph, calibration_of(graph, spec, input), observer);
}

schedule::Options options_of(const RunSpec& spec, const std::optional<NamedImages>& input) {
    const std::uint32_t batch = std::max(spec.compiler.batch, 1U);
    if (input) return {.batch = batch, .inferences = input->images.count};
    return {.batch = batch, .inferences = spec.compiler.limit > 0 ? spec.compiler.limit : batch};
}

}  // namespace systole::run
