#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/config_description.h"
#include "hw/machine/machine_config.h"
#include "sim/run/path_finder.h"
#include "sim/run/record/spec.h"
#include "sim/run/record/trace_config.h"

namespace systole::run {

/// A value for one key of a configuration, which replaces the value of the file.
struct Setting {
    std::string key;  ///< dotted: "batch", "machine.matrix_unit.rows"
    nlohmann::json value;
};

/// Reads "KEY=VALUE". The value is JSON if it can be parsed as such (512, true, ["a", "b"]) and text
/// otherwise. Throws ConfigError if the key is missing.
Setting parse_setting(std::string_view text);

/// Sets the key in the object and creates missing objects on its path; the value null removes the key. `file`
/// leads the messages. Throws ConfigError if a value on the path is not an object.
void apply(const Setting& setting, nlohmann::json& object, const std::string& file);

/// Applies settings to the object of a machine file. The choice of another weight_memory.model drops the
/// key of the file that belongs to the other one, and a key that is removed loses its source. Throws
/// ConfigError as `apply` does, and for the removal of a key that no machine has.
void apply_to_machine(std::span<const Setting> settings, nlohmann::json& machine, const std::string& file);

/// A run as configs/runs/*.json and the command line describe it. Paths are stored as given; PathFinder
/// finds the files.
struct RunConfig {
    std::string schema = "sim.run/1";
    std::string machine;                   ///< configuration file
    std::string model;                     ///< network file; or a program
    std::string program;                   ///< .tpu file or assembly text
    std::vector<std::string> input;        ///< files or folders of images
    std::uint64_t random_input = 0;        ///< seed of made-up input, instead; 0: none
    std::string labels;                    ///< one class an image
    double input_scale = 1.0 / 255.0;      ///< factor from an 8-bit pixel to the network's input
    std::vector<std::string> calibration;  ///< images to quantize with; else the first of the input
    std::uint32_t batch = 0;               ///< 0: not given, which means 1
    std::uint64_t limit = 0;               ///< 0: all images
    std::string host;                    ///< baseline that stands for the host; empty: its work is not timed
    std::vector<std::string> baselines;  ///< to compare with
    bool host_time = true;               ///< comparisons add the host's time to the chip's
    std::string out;                     ///< folder for report.json and traces; empty: none
    bool timing_only = false;            ///< no values, cycles only
    bool float_reference = false;        ///< run the network in float as well
    bool instructions = false;           ///< keep the times of each instruction
    std::uint32_t power_windows = 0;     ///< windows of time to report energy in; 0: none
    std::string registers;               ///< cycles whose registers to keep; see read_cycle_range
    std::vector<std::string> print;      ///< host buffers to show after the run; see find_view
    bool explain = true;                 ///< with `out`: explain the cycles, by simulations of changes
    trace::TraceConfig trace;            ///< traces to write during the run

    /// The settings of the machine, in order; their keys without "machine.".
    std::vector<Setting> machine_settings;
    /// The run file, or empty.
    std::filesystem::path file;
};

/// Reads a run file (or none, if the path is empty) and applies the settings to it. A setting "machine.KEY"
/// applies to the machine. Some settings drop keys of the file that no longer fit: a program drops model,
/// batch and calibration, a model drops the program, and an input drops the labels, unless they are set
/// after it. Throws ConfigError.
RunConfig read_run(const std::filesystem::path& file, std::span<const Setting> settings);

/// The effective configuration, the settings of the machine included.
nlohmann::ordered_json to_json(const RunConfig& config);
/// Describes each key that read_run reads.
std::vector<machine::KeyDescription> run_keys();

/// The run's machine file with the run's settings applied to it. Throws ConfigError.
machine::MachineConfig read_machine(const RunConfig& config, const PathFinder& paths);

/// The spec of a configuration: names and paths are resolved, and files are identified by their contents. A
/// name that is not found is an error here, a file that cannot be read only when it is opened later. Throws
/// ConfigError.
RunSpec make_spec(const RunConfig& config);

}  // namespace systole::run
