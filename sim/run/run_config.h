#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "hw/machine/config_description.h"
#include "sim/run/record/trace_config.h"
#include "sim/run/setting.h"

namespace systole::run {

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
    std::vector<std::string> baselines;  ///< what to compare with
    std::string out;                     ///< folder for report.json and traces; empty: none
    bool timing_only = false;            ///< no values, cycles only
    bool float_reference = false;        ///< run the network in float as well
    bool instructions = false;           ///< keep the times of each instruction
    std::uint32_t power_windows = 0;     ///< windows of time to report energy in; 0: none
    std::string registers;               ///< cycles whose registers to keep; see read_cycle_range
    std::vector<std::string> print;      ///< host buffers to show after the run; see find_view
    bool explain = true;                 ///< with `out`: explain the cycles, by simulations of changes
    trace::TraceConfig trace;            ///< traces to write during the run

    /// What the settings change in the machine, in order; their keys without "machine.".
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

}  // namespace systole::run
