#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/machine_config.h"
#include "hw/machine/mapping.h"
#include "sim/run/record/content.h"
#include "sim/run/record/feeding.h"
#include "sim/run/record/fields.h"

namespace systole::machine {

// A machine is written in the format of its file.
nlohmann::ordered_json record_json(const MachineConfig& machine);
void read_record_json(const nlohmann::ordered_json& json, MachineConfig& machine);

SYSTOLE_RECORD_FIELDS(Mapping, join_convolutions, join_by_cost, skip_zero_tiles, parts_by_delay,
                      group_first_layers, pixel_blocks, split_channels, in_place, double_buffers, pipeline,
                      overlap_transfers, order, cut_images, compare, join_results, combine_sums, keep_results)

}  // namespace systole::machine

namespace systole::run {

/// The options for the compiler.
struct CompilerOptions {
    std::uint32_t batch = 1;  ///< images that go through the network together
    std::uint64_t limit =
        0;  ///< the first images only, 0: all; without images the number of inferences, 0: one batch
    machine::Mapping mapping = {};
};
SYSTOLE_RECORD_FIELDS(CompilerOptions, batch, limit, mapping)

/// The order of axes in arrays of images: that of the network's file, or a given one.
enum class Layout : std::uint8_t { File, Hwc, Chw };
constexpr std::array<std::string_view, 3> names_of(Layout) {
    return {"file", "hwc", "chw"};
}

/// The order in which the network takes the colours of images.
enum class ChannelOrder : std::uint8_t { Rgb, Bgr };
constexpr std::array<std::string_view, 2> names_of(ChannelOrder) {
    return {"rgb", "bgr"};
}

/// A size in pixels.
struct ImageSize {
    std::uint32_t height = 0;
    std::uint32_t width = 0;  ///< 0: the height is that of the shorter side, or of a square

    bool operator==(const ImageSize&) const = default;
};
SYSTOLE_RECORD_FIELDS(ImageSize, height, width)

/// What becomes of images before they are the network's input: resized, cropped, and each 8-bit pixel the
/// number (pixel * scale - mean) / deviation.
struct Preparation {
    std::optional<ImageSize> resize;
    std::optional<ImageSize> crop;
    Layout layout = Layout::File;
    ChannelOrder channels = ChannelOrder::Rgb;
    /// The run says how pixels become numbers. If it does not, those of a network on integers are stored as
    /// they are.
    bool is_given = false;
    double scale = 1.0 / 255.0;
    std::vector<double> mean;       ///< of all channels, or one a channel; empty: 0
    std::vector<double> deviation;  ///< likewise; empty: 1
};
SYSTOLE_RECORD_FIELDS(Preparation, resize, crop, layout, channels, is_given, scale, mean, deviation)

/// A file, or a folder of files, with values of an input of the network.
struct InputFile {
    std::string input;  ///< the name in the network; empty: not given
    Content content;
};
SYSTOLE_RECORD_FIELDS(InputFile, input, content)

/// The shape of an input whose sizes the network's file leaves open.
struct InputShape {
    std::string input;                   ///< the name in the network; empty: its only one
    std::vector<std::uint32_t> extents;  ///< with the batch, in the order of the file
};
SYSTOLE_RECORD_FIELDS(InputShape, input, extents)

/// Inputs that outputs replace in the next step: `count` inputs and as many outputs, from these on. Each is
/// the name of one, or its position.
struct StatePairs {
    std::string input;
    std::string output;
    std::uint32_t count = 1;
};
SYSTOLE_RECORD_FIELDS(StatePairs, input, output, count)

/// The tokens of an inference of a decoder: new ones, behind those whose keys and values are in its caches.
struct DecoderStep {
    std::uint32_t new_tokens = 1;
    std::uint32_t cached_tokens = 0;
};
SYSTOLE_RECORD_FIELDS(DecoderStep, new_tokens, cached_tokens)

/// The TensorFlow release whose reference kernels define what a TFLite file computes.
enum class TfliteRuntime : std::uint8_t { Newest, V2_19, V2_21 };
constexpr std::array<std::string_view, 3> names_of(TfliteRuntime) {
    return {"newest", "2.19", "2.21"};
}

/// The range of a tensor of bytes, from the numbers that calibration saw in it.
enum class CalibrationMethod : std::uint8_t { MinMax, Percentile, LeastError };
constexpr std::array<std::string_view, 3> names_of(CalibrationMethod) {
    return {"minmax", "percentile", "mse"};
}

/// The input of the network.
struct RunData {
    std::vector<InputFile> input;
    std::uint64_t random_input = 0;  ///< the seed of made-up input; 0: none
    Preparation preparation;
    std::optional<Content> labels;
    std::optional<Content> label_names;
    std::vector<Content> calibration;
    CalibrationMethod calibration_method = CalibrationMethod::LeastError;
};
SYSTOLE_RECORD_FIELDS(RunData, input, random_input, preparation, labels, label_names, calibration,
                      calibration_method)

/// Requests that arrive at random: the report has their latencies.
struct RequestArrivals {
    double per_second = 0.0;        ///< 0: none
    double latency_limit_ms = 0.0;  ///< of 99 of 100 requests; 0: none
    std::uint64_t seed = 1;
};
SYSTOLE_RECORD_FIELDS(RequestArrivals, per_second, latency_limit_ms, seed)

/// The optional parts of a record, besides counters and answers.
struct Observed {
    bool instruction_times = false;
    bool occupancy = false;  ///< of the memories
    bool phases = false;
    bool pictures = false;            ///< some of the input, with predictions
    bool outputs = false;             ///< every output of the network, for files
    bool float_outputs = false;       ///< those of the float reference
    bool layer_accuracy = false;      ///< of each layer, against the float reference
    std::uint32_t power_windows = 0;  ///< above 0: when units worked, to show power in this many windows
    std::string registers;            ///< cycles in which the array's registers are kept: "all", "10-20"
    std::vector<std::string> print;   ///< host buffers: "NAME:int8x4"
};
SYSTOLE_RECORD_FIELDS(Observed, instruction_times, occupancy, phases, pictures, outputs, float_outputs,
                      layer_accuracy, power_windows, registers, print)

/// A key of the machine that was set over its file, and the JSON it was set to.
struct LabelledSetting {
    std::string key;
    Json value;
};
SYSTOLE_RECORD_FIELDS(LabelledSetting, key, value)

/// Names and paths as the user gave them. No result depends on them; what results depend on is in the other
/// members of the spec.
struct RunLabels {
    using Uncompared = void;
    std::string program;  ///< as given by the user: messages begin with it
    Json run = Json::object();
    std::vector<LabelledSetting> machine_settings;
};
SYSTOLE_RECORD_FIELDS(RunLabels, program, run, machine_settings)

/// Everything that determines a run. Equal specs give equal records: see compared_bytes.
struct RunSpec {
    static constexpr std::string_view current_schema = "sim.run_spec/1";

    std::string schema{current_schema};
    std::string simulator = SYSTOLE_VERSION;
    machine::MachineConfig machine;
    std::optional<Content> network;        ///< either a network
    std::optional<Content> program;        ///< or a program
    std::vector<InputShape> input_shapes;  ///< those that the network's file leaves open
    std::vector<StatePairs> state;         ///< besides those that the network's file has
    std::optional<DecoderStep> step;       ///< closes the sizes of other inputs
    /// Inputs that outputs replace in the next run, longer along one axis. Machines with tensor cores keep
    /// them in their memory.
    std::vector<StatePairs> caches;
    std::string examples;  ///< the input that takes them, by name or position; empty: not said
    TfliteRuntime tflite_runtime = TfliteRuntime::Newest;
    std::string signature;              ///< of a TFLite file with several networks
    std::uint32_t size_multiplier = 1;  ///< images so many times as wide and high as in the file
    CompilerOptions compiler;
    RunData data;
    bool timing_only = false;
    bool float_reference = false;
    std::optional<Json> host;     ///< the baseline that does the host's work; JSON as in its file
    std::vector<Json> baselines;  ///< those that the run is compared with
    bool host_time = true;        ///< the comparison adds the host's time to the chip's
    RequestArrivals arrivals;
    Feeding feeding;  ///< the computer that makes the input
    Observed observed;
    RunLabels labels;
};
SYSTOLE_RECORD_FIELDS(RunSpec, schema, simulator, machine, network, program, input_shapes, state, step,
                      caches, examples, tflite_runtime, signature, size_multiplier, compiler, data,
                      timing_only, float_reference, host, baselines, host_time, arrivals, feeding, observed,
                      labels)

/// SHA-256 of the whole spec without its labels: the key under which records are kept.
std::string key_of(const RunSpec& spec);

/// All contents that the spec names.
std::vector<Content*> contents_of(RunSpec& spec);

/// Throws RecordError where the schema is not the current one.
RunSpec read_spec(std::string_view bytes);

}  // namespace systole::run
