#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
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

/// Whether a text may be the dotted key of a setting: no part is empty, and it is not too long.
bool is_setting_key(std::string_view key);

/// Reads "KEY=VALUE". The value is JSON if it can be parsed as such (512, true, ["a", "b"]) and text
/// otherwise. Throws ConfigError if the key is missing.
Setting parse_setting(std::string_view text);

/// Keys of settings that begin so are those of the machine.
inline constexpr std::string_view machine_prefix = "machine.";

/// Sets the key in the object and creates missing objects on its path; the value null removes the key. `file`
/// leads the messages. Throws ConfigError if a value on the path is not an object.
void apply(const Setting& setting, nlohmann::json& object, const std::string& file);

/// Applies settings to the object of a machine file. The choice of another weight_memory.model drops the
/// key of the file that belongs to the other one, and a key that is removed loses its source. Throws
/// ConfigError as `apply` does, and for the removal of a key that no machine has.
void apply_to_machine(std::span<const Setting> settings, nlohmann::json& machine, const std::string& file);

/// A well-known way from 8-bit pixels to the numbers that a network takes.
enum class Preset : std::uint8_t { None, ImagenetTorch, ImagenetTf, ImagenetCaffe, Raw };
constexpr std::array<std::string_view, 5> names_of(Preset) {
    return {"none", "imagenet-torch", "imagenet-tf", "imagenet-caffe", "raw"};
}

/// The size in a text: "256" (one number; the meaning depends on the key) or "224x192" (height, width);
/// absent if it is another text, or a number is not from 1 to 65536.
std::optional<ImageSize> parse_size(std::string_view text);

/// The shape in a text: "1,3,224,224", or "NAME=1,3,224,224" for the input NAME; absent if it is another
/// text, has more sizes than a tensor may have, or a number is not below 2^32.
std::optional<InputShape> parse_input_shape(std::string_view text);

/// The pair in a text: "past.*=present.*"; absent if it is another text, or both sides have not the same
/// number of stars, 0 or 1.
std::optional<StatePairs> parse_cache(std::string_view text);

/// The baseline that does the host's work if neither a run nor its machine names one.
inline constexpr std::string_view default_host = "haswell_e5_2699_v3";

/// A run as configs/runs/*.json and the command line describe it. Paths are stored as given; PathFinder
/// finds the files.
struct RunConfig {
    std::string schema = "sim.run/1";
    std::string machine;                                   ///< configuration file
    std::string model;                                     ///< network file; or a program
    std::string program;                                   ///< .tpu file or assembly text
    std::vector<std::string> input_shape;                  ///< of inputs that the network's file leaves open
    TfliteRuntime tflite_runtime = TfliteRuntime::Newest;  ///< which a TFLite file was made for
    std::string signature;                                 ///< of a TFLite file with several
    std::string state;                                     ///< file that says what goes in and out of a step
    std::uint32_t new_tokens = 0;     ///< of a step of a decoder; 0: sizes are those of input_shape and data
    std::uint32_t cached_tokens = 0;  ///< before them
    std::vector<std::string> cache;   ///< INPUT=OUTPUT, that replaces it, longer
    std::uint32_t size_multiplier = 1;  ///< images so many times as wide and high
    std::vector<std::string> input;     ///< files or folders of images
    std::uint64_t random_input = 0;     ///< seed of made-up input, instead; 0: none
    std::string labels;                 ///< one class an image
    std::string label_names;            ///< a line for each class
    std::string resize;                 ///< of images: "256" or "224x192"; see parse_size
    std::string crop;                   ///< of images, after that
    Layout layout = Layout::File;       ///< of arrays of images
    Preset preset = Preset::None;       ///< how pixels become numbers, by name
    std::optional<double> input_scale;  ///< factor from an 8-bit pixel to the network's input
    std::vector<double> mean;           ///< taken from that
    std::vector<double> std;            ///< by which the difference is divided
    ChannelOrder channels = ChannelOrder::Rgb;
    std::vector<std::string> calibration;  ///< images to quantize with; else the first of the input
    CalibrationMethod calibration_method = RunData().calibration_method;  ///< ranges from these
    machine::MappingName mapping = machine::MappingName::Best;            ///< choices of the compiler
    bool overlap = true;                                                  ///< transfers and layers overlap
    bool cut_images = true;              ///< where one does not fit the unified buffer
    std::uint32_t batch = 0;             ///< 0: not given, which means 1
    std::uint64_t limit = 0;             ///< 0: all images
    std::string host;                    ///< baseline that does the host's work; empty: default_host
    std::vector<std::string> baselines;  ///< to compare with
    double arrivals = 0.0;               ///< requests a second that arrive at random; 0: none
    double latency_limit_ms = 0.0;       ///< of 99 of 100 requests; 0: none
    std::uint64_t arrival_seed = 1;      ///< of their times
    Feeding feeding;                     ///< the computer that makes the input
    bool host_time = true;               ///< comparisons add the host's time to the chip's
    std::string out;                     ///< folder for report.json and traces; empty: none
    std::string outputs;                 ///< folder for the network's outputs; empty: none
    std::string float_outputs;           ///< folder for those of the float reference
    bool timing_only = false;            ///< no values, cycles only
    bool float_reference = false;        ///< run the network in float as well
    bool accuracy_by_layer = false;      ///< compare each layer with it
    bool instructions = false;           ///< keep the times of each instruction
    std::uint32_t power_windows = 0;     ///< windows of time to report energy in; 0: none
    std::string registers;               ///< cycles whose registers to keep; see read_cycle_range
    std::vector<std::string> print;      ///< host buffers to show after the run; see find_view
    bool explain = true;                 ///< with `out`: explain the cycles, by simulations of changes
    trace::TraceConfig trace;            ///< traces to write during the run

    /// The settings of the machine, in order; their keys without "machine.".
    std::vector<Setting> machine_settings;
    std::string settings_place = "command line";  ///< of the settings, in messages
    /// The run file, or empty.
    std::filesystem::path file;
    /// The object of a machine file, which is then in no file; null: `machine` names the file.
    nlohmann::json machine_object;
};

/// Reads a run file (or none, if the path is empty) and applies the settings to it. A setting "machine.KEY"
/// applies to the machine. Some settings drop keys of the file that no longer fit: a program drops model,
/// batch and calibration, a model drops the program, an input drops the labels, and a preset drops
/// input_scale, mean, std and channels, unless they are set after it. Throws ConfigError.
RunConfig read_run(const std::filesystem::path& file, std::span<const Setting> settings);

/// The same where the `keys` of a run file, in any order, come before the settings: they replace those of the
/// file, and null removes one. `place` leads the messages.
RunConfig read_run(const std::filesystem::path& file, const nlohmann::json& keys,
                   std::span<const Setting> settings, const std::string& place);

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
