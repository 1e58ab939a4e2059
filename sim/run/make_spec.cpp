#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "compiler/frontend/door/read_network.h"
#include "hw/machine/config_reader.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/run_config.h"
#include "sim/run/training_file.h"

namespace systole::run {
namespace {

std::vector<Content> contents_of(const std::vector<std::string>& files, const PathFinder& paths) {
    std::vector<Content> contents;
    contents.reserve(files.size());
    for (const std::string& file : files) contents.push_back(content_of(paths.find(file)));
    return contents;
}

/// A file, or INPUT=FILE. A file of the whole text goes first, as paths may have equals signs.
InputFile input_file(const std::string& given, const PathFinder& paths) {
    std::error_code ignored;
    const std::filesystem::path whole = paths.find(given);
    const std::size_t equals = given.find('=');
    if (equals == 0 || equals == std::string::npos || std::filesystem::exists(whole, ignored)) {
        return {.input = {}, .content = content_of(whole)};
    }
    return {.input = given.substr(0, equals), .content = content_of(paths.find(given.substr(equals + 1)))};
}

/// The numbers that a preset stands for; those of keras.applications.imagenet_utils and of torchvision's
/// models.
void apply(Preset preset, Preparation& preparation) {
    switch (preset) {
        case Preset::None:
            return;
        case Preset::ImagenetTorch:
            preparation.mean = {0.485, 0.456, 0.406};
            preparation.deviation = {0.229, 0.224, 0.225};
            return;
        case Preset::ImagenetTf:  // from -1 to 1
            preparation.scale = 1.0 / 127.5;
            preparation.mean = {1.0};
            return;
        case Preset::ImagenetCaffe:
            preparation.scale = 1.0;
            preparation.channels = ChannelOrder::Bgr;
            preparation.mean = {103.939, 116.779, 123.68};  // blue, green, red
            return;
        case Preset::Raw:
            preparation.scale = 1.0;
            return;
    }
    throw std::logic_error("a preset without numbers");
}

Preparation preparation_of(const RunConfig& config) {
    Preparation preparation{.resize = parse_size(config.resize),
                            .crop = parse_size(config.crop),
                            .layout = config.layout,
                            .channels = config.channels,
                            .is_given = config.preset != Preset::None || config.input_scale ||
                                        !config.mean.empty() || !config.std.empty(),
                            .scale = config.input_scale.value_or(Preparation().scale),
                            .mean = config.mean,
                            .deviation = config.std};
    apply(config.preset, preparation);
    return preparation;
}

Json read_baseline(const std::string& name, const PathFinder& paths) {
    return baselines::to_json(baselines::read_baseline(paths.find(name, "baselines")));
}

}  // namespace

machine::MachineConfig read_machine(const RunConfig& config, const PathFinder& paths) {
    std::string place = "machine";
    nlohmann::json object = config.machine_object;
    if (object.is_null()) {
        const std::filesystem::path path = paths.find(config.machine, "machines");
        place = path.string();
        object = machine::read_json_object(path);
    }
    if (!config.machine_settings.empty()) place += " and " + config.settings_place;
    apply_to_machine(config.machine_settings, object, place);
    return machine::read_machine(object, place);
}

RunSpec make_spec(const RunConfig& config) {
    const PathFinder paths(config.file);
    RunSpec spec;
    spec.machine = read_machine(config, paths);
    for (const std::string& name : config.baselines) spec.baselines.push_back(read_baseline(name, paths));
    spec.host_time = config.host_time;
    spec.arrivals = {.per_second = config.arrivals,
                     .latency_limit_ms = config.latency_limit_ms,
                     .seed = config.arrival_seed};
    spec.feeding = config.feeding;
    const std::string& own = spec.machine.host.processor;
    const std::string usual = own.empty() ? std::string(default_host) : own;
    spec.host = read_baseline(config.host.empty() ? usual : config.host, paths);
    if (!config.model.empty()) {
        const std::filesystem::path network = paths.find(config.model, "models");
        spec.network = content_of(network, frontend::further_files(network));
    }
    if (!config.program.empty()) spec.program = content_of(paths.find(config.program));
    for (const std::string& given : config.input_shape) {
        spec.input_shapes.push_back(parse_input_shape(given).value());
    }
    spec.tflite_runtime = config.tflite_runtime;
    spec.signature = config.signature;
    if (!config.state.empty()) {
        const TrainingFile file = read_training(paths.find(config.state));
        spec.state = file.state;
        spec.examples = file.images;
    }
    if (config.new_tokens > 0) {
        spec.step = DecoderStep{.new_tokens = config.new_tokens, .cached_tokens = config.cached_tokens};
    }
    for (const std::string& given : config.cache) spec.caches.push_back(parse_cache(given).value());
    spec.size_multiplier = config.size_multiplier;
    spec.compiler = {.batch = std::max(config.batch, 1U),
                     .limit = config.limit,
                     .mapping = machine::mapping_named(config.mapping, config.overlap, config.cut_images)};
    for (const std::string& given : config.input) spec.data.input.push_back(input_file(given, paths));
    spec.data.random_input = config.random_input;
    spec.data.preparation = preparation_of(config);
    if (!config.labels.empty()) spec.data.labels = content_of(paths.find(config.labels));
    if (!config.label_names.empty()) spec.data.label_names = content_of(paths.find(config.label_names));
    spec.data.calibration = contents_of(config.calibration, paths);
    spec.data.calibration_method = config.calibration_method;
    spec.timing_only = config.timing_only;
    spec.float_reference = config.float_reference;
    spec.observed = {.instruction_times = config.instructions,
                     .occupancy = !config.out.empty(),
                     .phases = false,
                     .pictures = !config.out.empty(),
                     .outputs = !config.outputs.empty(),
                     .float_outputs = !config.float_outputs.empty(),
                     .layer_accuracy = config.accuracy_by_layer,
                     .power_windows = config.power_windows,
                     .registers = config.registers,
                     .print = config.print};
    spec.labels.program = config.program;
    spec.labels.run = to_json(config);
    for (const Setting& setting : config.machine_settings) {
        spec.labels.machine_settings.push_back({setting.key, setting.value});
    }
    return spec;
}

}  // namespace systole::run
