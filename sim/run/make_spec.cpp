#include <algorithm>
#include <string>
#include <vector>

#include "hw/machine/config_reader.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/run_config.h"

namespace systole::run {
namespace {

std::vector<Content> contents_of(const std::vector<std::string>& files, const PathFinder& paths) {
    std::vector<Content> contents;
    contents.reserve(files.size());
    for (const std::string& file : files) contents.push_back(content_of(paths.find(file)));
    return contents;
}

Json read_baseline(const std::string& name, const PathFinder& paths) {
    return baselines::to_json(baselines::read_baseline(paths.find(name, "baselines")));
}

}  // namespace

machine::MachineConfig read_machine(const RunConfig& config, const PathFinder& paths) {
    const std::filesystem::path path = paths.find(config.machine, "machines");
    nlohmann::json object = machine::read_json_object(path);
    const std::string place =
        config.machine_settings.empty() ? path.string() : path.string() + " and command line";
    apply_to_machine(config.machine_settings, object, place);
    return machine::read_machine(object, place);
}

RunSpec make_spec(const RunConfig& config) {
    const PathFinder paths(config.file);
    RunSpec spec;
    spec.machine = read_machine(config, paths);
    for (const std::string& name : config.baselines) spec.baselines.push_back(read_baseline(name, paths));
    spec.host_time = config.host_time;
    if (!config.host.empty()) spec.host = read_baseline(config.host, paths);
    if (!config.model.empty()) spec.network = content_of(paths.find(config.model, "models"));
    if (!config.program.empty()) spec.program = content_of(paths.find(config.program));
    spec.compiler = {.batch = std::max(config.batch, 1U), .limit = config.limit};
    spec.data.input = contents_of(config.input, paths);
    spec.data.random_input = config.random_input;
    spec.data.input_scale = config.input_scale;
    if (!config.labels.empty()) spec.data.labels = content_of(paths.find(config.labels));
    spec.data.calibration = contents_of(config.calibration, paths);
    spec.timing_only = config.timing_only;
    spec.float_reference = config.float_reference;
    spec.observed = {.instruction_times = config.instructions,
                     .occupancy = !config.out.empty(),
                     .phases = false,
                     .pictures = !config.out.empty(),
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
