#include "sim/run/compile.h"

#include <algorithm>
#include <utility>

#include "compiler/frontend/frontend.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/calibrate.h"
#include "compiler/passes/drop_weights.h"
#include "compiler/passes/prepare.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/run/random_images.h"

namespace systole::run {
namespace {

/// Images to calibrate with, where the run names none of their own.
constexpr std::uint64_t calibration_images = 128;

passes::Calibration calibration_of(const ir::Graph& graph, const RunConfig& config, const PathFinder& paths,
                                   const std::optional<NamedImages>& input) {
    passes::Calibration calibration;
    const bool takes_floats = input && input->images.floats() != nullptr;
    if (!takes_floats) calibration.encoding = passes::InputEncoding{config.input_scale, 0};

    if (!graph.has_weights) return calibration;
    std::optional<NamedImages> read;
    if (!config.calibration.empty()) read = read_images(config.calibration, paths);
    const std::optional<NamedImages>& images = read ? read : input;
    if (!images) {
        throw machine::ConfigError(
            "quantization needs images that the network typically sees: give --calibration or --input");
    }
    check_shape(*images, graph.input_map(), graph.name);
    const std::uint64_t count =
        read ? images->images.count : std::min<std::uint64_t>(images->images.count, calibration_images);
    calibration.inputs = to_floats(images->images, 0, count, config.input_scale);
    calibration.count = static_cast<std::uint32_t>(count);
    return calibration;
}

}  // namespace

machine::MachineConfig read_machine(const RunConfig& config, const PathFinder& paths) {
    const std::filesystem::path path = paths.find(config.machine, "machines");
    nlohmann::json object = machine::read_json_object(path);
    const std::string place =
        config.machine_settings.empty() ? path.string() : path.string() + " and command line";
    for (const Setting& setting : config.machine_settings) apply(setting, object, place);
    return machine::read_machine(object, place);
}

schedule::Target target_of(const machine::MachineConfig& machine) {
    return {.geometry = {.rows = machine.matrix_unit.rows, .columns = machine.matrix_unit.columns},
            .accumulator_rows = machine.accumulators.rows,
            .unified_buffer_rows = machine.unified_buffer.rows,
            .weight_memory_bytes = machine.weight_memory.bytes,
            .activation_delay = machine.matrix_latency() + machine.activation_latency()};
}

nlohmann::json to_json(const schedule::Target& target) {
    // These name every field: a further one does not compile before it is here.
    const auto& [geometry, accumulator_rows, unified_buffer_rows, weight_memory_bytes, activation_delay] =
        target;
    const auto& [rows, columns] = geometry;
    return {{"rows", rows},
            {"columns", columns},
            {"accumulator_rows", accumulator_rows},
            {"unified_buffer_rows", unified_buffer_rows},
            {"weight_memory_bytes", weight_memory_bytes},
            {"activation_delay", activation_delay}};
}

ir::Graph read_model(const RunConfig& config, const PathFinder& paths) {
    const std::filesystem::path path = paths.find(config.model);
    if (!config.timing_only) return frontend::read_network(path, operators::registry());
    return passes::drop_weights(
        frontend::read_network(path, operators::registry(), frontend::WeightValues::Skipped));
}

std::optional<NamedImages> read_input(const RunConfig& config, const PathFinder& paths) {
    if (config.input.empty()) return std::nullopt;
    NamedImages images = read_images(config.input, paths);
    if (config.limit > 0) keep_first(images.images, config.limit);
    return images;
}

std::optional<NamedImages> read_input(const RunConfig& config, const PathFinder& paths,
                                      const ir::Graph& graph) {
    if (config.random_input == 0) return read_input(config, paths);
    return random_images(graph.input_map(), options_of(config, std::nullopt).inferences, config.random_input,
                         graph.input().stored_as == DataType::Int16);
}

quantized::Network quantize(const ir::Graph& graph, const RunConfig& config, const PathFinder& paths,
                            const std::optional<NamedImages>& input, const passes::PassObserver& observer) {
    if (input) check_shape(*input, graph.input_map(), graph.name);
    return passes::prepare(graph, calibration_of(graph, config, paths, input), observer);
}

schedule::Options options_of(const RunConfig& config, const std::optional<NamedImages>& input) {
    const std::uint32_t batch = std::max(config.batch, 1U);
    if (input) return {.batch = batch, .inferences = input->images.count};
    return {.batch = batch, .inferences = config.limit > 0 ? config.limit : batch};
}

}  // namespace systole::run
