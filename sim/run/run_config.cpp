#include "sim/run/run_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <string_view>
#include <system_error>

#include "compiler/ir/shape.h"
#include "hw/machine/config_description.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"

namespace systole::run {

using machine::ConfigReader;
using machine::needed;
using machine::Range;
using machine::RealRange;

namespace {

// Rules between keys, for messages and for the reference of keys.
constexpr std::string_view machine_rule = "a run needs a machine, as in \"tpu_v1\"";
constexpr std::string_view model_rule = "a run needs a model or a program";
constexpr std::string_view program_rule = "a run has a model or a program, not both";
constexpr std::string_view models_only_rule = "it goes with a model; the program has its own";
constexpr std::string_view random_input_rule = "a run has files of input or made-up input, not both";
constexpr std::string_view labels_rule = "they need an input";
constexpr std::string_view resize_rule = "it must be the shorter side, or HEIGHTxWIDTH, as in 256 or 224x192";
constexpr std::string_view crop_rule =
    "it must be the side of a square, or HEIGHTxWIDTH, as in 224 or 224x192";
constexpr std::string_view input_shape_rule =
    "it must be sizes, at most 6, as in 1,3,224,224 or NAME=1,3,224,224, once for an input";
constexpr std::string_view cached_tokens_rule = "it goes with new_tokens";
constexpr std::uint64_t most_tokens = std::uint64_t{1} << 24U;
constexpr std::string_view cache_rule =
    "it must be INPUT=OUTPUT, as in past.*=present.*, with at most one * on either side, and goes with a "
    "model";
constexpr std::string_view size_multiplier_rule =
    "it goes with a model and timing_only: the weights of other sizes are not known";
constexpr std::string_view preset_rule =
    "it stands for input_scale, mean, std and channels, and goes without them";
constexpr std::string_view images_rule = "it needs images: an input, or calibration";
constexpr std::string_view outputs_rule = "a timing-only run has no outputs";
constexpr std::string_view out_rule = "traces need a folder to be written to";
constexpr std::string_view float_reference_rule = "it needs a model, not a program";
constexpr std::string_view registers_rule = "a timing-only run has no values in them";
constexpr std::string_view tflite_runtime_rule = "a release goes with a TFLite file";
constexpr std::string_view signature_rule = "a signature goes with a TFLite file";
constexpr auto layout_names = names_of(Layout());
constexpr auto tflite_runtime_names = names_of(TfliteRuntime());
constexpr auto preset_names = names_of(Preset());
constexpr auto mapping_names = names_of(machine::MappingName());
constexpr auto channel_orders = names_of(ChannelOrder());
constexpr auto calibration_methods = names_of(CalibrationMethod());

constexpr std::string_view print_rule = "a timing-only run has no values in its buffers";

}  // namespace

// The fields, declared once for reading, writing and documentation. (Outside an unnamed namespace, so that
// the visitors find them by the structure's type.)
template <class Visitor>
void describe(Visitor& visitor, RunConfig& config) {
    visitor.field(needed("schema", "", "kind and version of the file: sim.run/1"), config.schema);
    visitor.field(
        {.key = "machine", .meaning = "machine file, or its name in configs/machines", .rule = machine_rule},
        config.machine);
    visitor.field({.key = "model", .meaning = "network file, or its name in models", .rule = model_rule},
                  config.model);
    visitor.field({.key = "program", .meaning = "program file, instead of a model", .rule = program_rule},
                  config.program);
    visitor.field(
        {.key = "input_shape",
         .meaning = "shapes of inputs whose sizes the network's file leaves open, each as 1,3,224,224, or "
                    "NAME=1,3,224,224 for the input NAME, in which a * stands for any text",
         .rule = input_shape_rule},
        config.input_shape);
    visitor.choice(
        {.key = "tflite_runtime",
         .meaning = "TensorFlow release whose reference kernels define what a TFLite file computes; "
                    "newest: 2.21",
         .rule = tflite_runtime_rule},
        config.tflite_runtime, tflite_runtime_names);
    visitor.field({.key = "signature",
                   .meaning = "signature, or name of a subgraph, of a TFLite file with several networks",
                   .rule = signature_rule},
                  config.signature);
    visitor.field(
        {.key = "state",
         .meaning = "training file: which outputs of the program replace which inputs in the next step, "
                    "and which input takes the examples",
         .rule = models_only_rule},
        config.state);
    visitor.field({.key = "new_tokens",
                   .unit = "tokens",
                   .meaning = "tokens of an inference of a decoder: the length of its prompt, or 1; closes "
                              "sizes that an ONNX file leaves open; 0: not given",
                   .rule = models_only_rule},
                  config.new_tokens, Range{0, most_tokens});
    visitor.field({.key = "cached_tokens",
                   .unit = "tokens",
                   .meaning = "tokens before these, whose keys and values are in the decoder's caches",
                   .rule = cached_tokens_rule},
                  config.cached_tokens, Range{0, most_tokens});
    visitor.field(
        {.key = "cache",
         .meaning = "inputs that outputs replace in the next run, longer along one axis, and that a tensor "
                    "core keeps in its memory, each as INPUT=OUTPUT; a * in both stands for the same text",
         .rule = cache_rule},
        config.cache);
    visitor.field({.key = "size_multiplier",
                   .meaning = "images so many times as wide and as high as the network's",
                   .rule = size_multiplier_rule},
                  config.size_multiplier, Range{1, 64});
    visitor.field(
        {"input", "", "files or folders of images, or files of arrays; NAME=FILE for the input NAME"},
        config.input);
    visitor.field(
        {.key = "random_input",
         .meaning = "seed of made-up input, instead of files: pixels; of a network of arrays floats from "
                    "-1 to 1, whole numbers from 0 to 7 and truth values; 0 for none",
         .rule = random_input_rule},
        config.random_input, Range{0, std::numeric_limits<std::uint64_t>::max()});
    visitor.field({.key = "labels", .meaning = "file with the class of each image", .rule = labels_rule},
                  config.labels);
    visitor.field(
        {.key = "label_names",
         .meaning = "file with the names of the classes, a line for each: the report names the best five"},
        config.label_names);
    visitor.field(
        {.key = "resize",
         .meaning = "size that images get: that of the shorter side, or HEIGHTxWIDTH; bilinear, as Pillow"},
        config.resize);
    visitor.field({.key = "crop",
                   .meaning = "middle of the images that is kept, after resize: a square, or HEIGHTxWIDTH"},
                  config.crop);
    visitor.choice({"layout", "", "axes of the images in arrays; file: in the order of the network's file"},
                   config.layout, layout_names);
    visitor.choice({.key = "preset",
                    .meaning = "how 8-bit pixels become the network's numbers, by the name of a convention",
                    .rule = preset_rule},
                   config.preset, preset_names);
    visitor.field({.key = "input_scale",
                   .meaning = "factor from an 8-bit pixel to the network's input",
                   .if_absent = "1/255"},
                  config.input_scale, RealRange{1e-9, 1e9});
    visitor.field({"mean", "", "taken from the scaled pixel: one number, or one for each channel"},
                  config.mean, RealRange{-1e9, 1e9});
    visitor.field({"std", "", "by which that difference is divided: one number, or one for each channel"},
                  config.std, RealRange{1e-9, 1e9});
    visitor.choice({"channels", "", "order in which the network takes the colours of images"},
                   config.channels, channel_orders);
    visitor.field({.key = "calibration",
                   .meaning = "files of images to quantize with",
                   .if_absent = "first 128 of the input",
                   .rule = models_only_rule},
                  config.calibration);
    visitor.choice({.key = "calibration_method",
                    .meaning = "range of each tensor from the numbers that it has on these images: from the "
                               "smallest to the largest, without the largest 0.01 %, or with the least mean "
                               "squared error",
                    .rule = models_only_rule},
                   config.calibration_method, calibration_methods);
    visitor.choice(
        {.key = "mapping",
         .meaning = "choices of the compiler: all that save cycles, those of the validation, or none",
         .rule = models_only_rule},
        config.mapping, mapping_names);
    visitor.field({.key = "overlap",
                   .meaning = "transfers and the work of layers overlap, as far as data and memory allow",
                   .rule = models_only_rule},
                  config.overlap);
    visitor.field(
        {.key = "cut_images",
         .meaning = "an image that does not fit the unified buffer is cut into strips of lines, and "
                    "tensors go through host memory, where the mapping is best",
         .rule = models_only_rule},
        config.cut_images);
    visitor.field({.key = "batch",
                   .meaning = "images that go through the network together",
                   .if_absent = "1",
                   .rule = models_only_rule},
                  config.batch, Range{1, std::numeric_limits<std::uint32_t>::max()});
    visitor.field({"limit", "", "images to run, from the first; 0 for all"}, config.limit,
                  Range{0, std::uint64_t{1} << 40U});
    visitor.field(
        {.key = "host",
         .meaning =
             "baseline file, or its name in configs/baselines: the processor that does the host's work",
         .if_absent = "host.processor of the machine, else haswell_e5_2699_v3"},
        config.host);
    visitor.field({"baselines", "", "baseline files, or their names, to compare with"}, config.baselines);
    visitor.field({.key = "arrivals",
                   .unit = "1/s",
                   .meaning = "requests that arrive at random: the report has their latencies; 0 for none",
                   .rule = models_only_rule},
                  config.arrivals, RealRange{0.0, 1e12});
    visitor.field(
        {.key = "latency_limit_ms",
         .unit = "ms",
         .meaning = "latency that 99 of 100 requests may have: the report has the most requests a second "
                    "within it; 0 for none",
         .rule = models_only_rule},
        config.latency_limit_ms, RealRange{0.0, 1e9});
    visitor.field({"arrival_seed", "", "seed of the times at which requests arrive"}, config.arrival_seed,
                  Range{0, std::numeric_limits<std::uint64_t>::max()});
    visitor.section({"feeding", "",
                     "a host that makes the input while the chip computes; the report has the "
                     "waits for it"},
                    config.feeding);
    visitor.field({"host_time", "",
                   "comparisons add the host's time to the chip's, by server.host_percent of the machine"},
                  config.host_time);
    visitor.field(
        {.key = "out", .meaning = "folder for report.json, report.html and traces", .rule = out_rule},
        config.out);
    visitor.field(
        {.key = "outputs",
         .meaning = "folder for each output of the network as NAME.npy, and NAME.raw.npy as it is stored",
         .rule = outputs_rule},
        config.outputs);
    visitor.field({.key = "float_outputs",
                   .meaning = "folder for the outputs of the network in float, as NAME.npy",
                   .rule = float_reference_rule},
                  config.float_outputs);
    visitor.field({"timing_only", "", "cycles without values: faster, no answers"}, config.timing_only);
    visitor.field({.key = "float_reference",
                   .meaning = "run the network in float as well",
                   .rule = float_reference_rule},
                  config.float_reference);
    visitor.field(
        {.key = "accuracy_by_layer",
         .meaning = "report how far each layer's numbers are from those of the network in float, on "
                    "the first 8 images",
         .rule = float_reference_rule},
        config.accuracy_by_layer);
    visitor.field({"instructions", "", "report the times of each instruction in its queue and unit"},
                  config.instructions);
    visitor.field(
        {"power_windows", "windows", "number of equal parts of the run to report power in; 0 for none"},
        config.power_windows, Range{0, 1'000'000});
    visitor.field({.key = "registers",
                   .meaning = "cycles in which to report the array's registers: all, or FIRST-LAST",
                   .rule = registers_rule},
                  config.registers);
    visitor.field(
        {.key = "print",
         .meaning =
             "host buffers or rows of the chip to report after the run: NAME, NAME:int8, NAME:int16x4, "
             "ub:ROW+ROWS, acc:ROW+ROWS, tile0:BYTE+BYTES",
         .rule = print_rule},
        config.print);
    visitor.field(
        {"explain", "", "report why each layer takes its cycles, and the effect of changes; with out"},
        config.explain);
    visitor.section({"trace", "", "traces of the run's events, beside its report"}, config.trace);
}

namespace {

/// Drops the keys that belong to the replaced value of a key and mean nothing without it.
void drop_dependent_keys(const Setting& setting, nlohmann::json& object) {
    const std::string_view key = setting.key;
    const auto drop = [&](std::initializer_list<const char*> keys) {
        for (const char* other : keys) object.erase(other);
    };
    if (key == "input") drop({"labels"});
    if (setting.value.is_null()) return;  // nothing takes its place
    if (key == "program")
        drop({"model",           "input_shape",     "tflite_runtime",
              "signature",       "state",           "new_tokens",
              "cached_tokens",   "cache",           "size_multiplier",
              "batch",           "calibration",     "calibration_method",
              "mapping",         "overlap",         "cut_images",
              "float_reference", "float_outputs",   "accuracy_by_layer",
              "arrivals",        "latency_limit_ms"});
    if (key == "model")
        drop({"program", "input_shape", "tflite_runtime", "signature", "new_tokens", "cached_tokens", "cache",
              "size_multiplier"});
    if (key == "input") drop({"random_input"});
    if (key == "preset") drop({"input_scale", "mean", "std", "channels"});
    if (key == "random_input") drop({"labels", "input"});
}

void validate_images(const RunConfig& config, const ConfigReader& reader) {
    if (!config.resize.empty() && !parse_size(config.resize)) reader.fail("resize", resize_rule);
    if (!config.crop.empty() && !parse_size(config.crop)) reader.fail("crop", crop_rule);
    const bool has_numbers = config.input_scale || !config.mean.empty() || !config.std.empty();
    if (config.preset != Preset::None && (has_numbers || config.channels != ChannelOrder::Rgb)) {
        reader.fail("preset", preset_rule);
    }
    if (!config.input.empty() || !config.calibration.empty()) return;
    if (!config.resize.empty()) reader.fail("resize", images_rule);
    if (!config.crop.empty()) reader.fail("crop", images_rule);
}

void validate_input_shapes(const RunConfig& config, const ConfigReader& reader) {
    std::set<std::string> inputs;
    for (const std::string& text : config.input_shape) {
        const std::optional<InputShape> shape = parse_input_shape(text);
        if (!shape || !inputs.insert(shape->input).second) reader.fail("input_shape", input_shape_rule);
    }
}

void validate(const RunConfig& config, const ConfigReader& reader) {
    if (config.machine.empty()) reader.fail("machine", machine_rule);
    if (config.model.empty() && config.program.empty()) {
        reader.fail("model", model_rule);
    }
    if (!config.model.empty() && !config.program.empty()) {
        reader.fail("program", program_rule);
    }
    if (!config.program.empty()) {
        for (const char* key : {"input_shape", "tflite_runtime", "signature", "state", "new_tokens",
                                "cached_tokens", "cache", "batch", "calibration", "calibration_method",
                                "mapping", "overlap", "cut_images", "arrivals", "latency_limit_ms"}) {
            if (reader.has(key)) reader.fail(key, models_only_rule);
        }
        if (config.float_reference) reader.fail("float_reference", float_reference_rule);
        if (config.accuracy_by_layer) reader.fail("accuracy_by_layer", float_reference_rule);
        if (!config.float_outputs.empty()) reader.fail("float_outputs", float_reference_rule);
    }
    if (config.timing_only && config.float_reference) {
        reader.fail("float_reference", "a timing-only run has no values to compare with it");
    }
    if (config.timing_only && config.accuracy_by_layer) {
        reader.fail("accuracy_by_layer", "a timing-only run has no values to compare with it");
    }
    if (config.timing_only) {
        if (!config.outputs.empty()) reader.fail("outputs", outputs_rule);
        if (!config.float_outputs.empty()) reader.fail("float_outputs", outputs_rule);
    }
    if (config.size_multiplier != 1 && (config.model.empty() || !config.timing_only)) {
        reader.fail("size_multiplier", size_multiplier_rule);
    }
    validate_input_shapes(config, reader);
    if (config.cached_tokens > 0 && config.new_tokens == 0) reader.fail("cached_tokens", cached_tokens_rule);
    for (const std::string& pair : config.cache) {
        if (!parse_cache(pair)) reader.fail("cache", cache_rule);
    }
    validate_images(config, reader);
    if (config.timing_only && !config.registers.empty()) {
        reader.fail("registers", registers_rule);
    }
    if (config.timing_only && !config.trace.processing_elements.empty()) {
        throw machine::ConfigError(fmt::format(
            "{}: trace.processing_elements is \"{}\"; a timing-only run has no values in registers",
            reader.file(), config.trace.processing_elements.front()));
    }
    if (config.timing_only && !config.print.empty()) {
        reader.fail("print", print_rule);
    }
    if (config.random_input > 0 && !config.input.empty()) {
        reader.fail("random_input", random_input_rule);
    }
    if (!config.labels.empty() && config.input.empty()) reader.fail("labels", labels_rule);
    config.feeding.validate(reader.file());
    config.trace.validate(reader.file());
    if (!config.trace.kinds.empty() && config.out.empty()) {
        reader.fail("out", out_rule);
    }
}

}  // namespace

std::optional<ImageSize> parse_size(std::string_view text) {
    constexpr std::uint32_t largest = 65536;
    const auto number = [](std::string_view digits) {
        std::uint32_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
        return is_whole && value <= largest ? value : 0;
    };
    const std::size_t cross = text.find('x');
    ImageSize size{.height = number(text.substr(0, cross)), .width = 0};
    if (size.height == 0) return std::nullopt;
    if (cross == std::string_view::npos) return size;
    size.width = number(text.substr(cross + 1));
    if (size.width == 0) return std::nullopt;
    return size;
}

std::optional<InputShape> parse_input_shape(std::string_view text) {
    // Names may have equals signs, sizes have none.
    const std::size_t equals = text.rfind('=');
    InputShape shape;
    if (equals != std::string_view::npos) {
        if (equals == 0) return std::nullopt;
        shape.input = text.substr(0, equals);
        text.remove_prefix(equals + 1);
    }
    while (true) {
        const std::string_view digits = text.substr(0, text.find(','));
        std::uint32_t extent = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), extent);
        if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
        shape.extents.push_back(extent);
        if (shape.extents.size() > ir::Shape::most_extents) return std::nullopt;
        if (digits.size() == text.size()) return shape;
        text.remove_prefix(digits.size() + 1);
    }
}

std::optional<StatePairs> parse_cache(std::string_view text) {
    // The names of some exporters have equals signs; the first one is taken.
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) return std::nullopt;
    StatePairs pair{.input = std::string(text.substr(0, equals)),
                    .output = std::string(text.substr(equals + 1))};
    const auto stars = std::ranges::count(pair.input, '*');
    if (stars > 1 || stars != std::ranges::count(pair.output, '*')) return std::nullopt;
    return pair;
}

RunConfig read_run(const std::filesystem::path& file, std::span<const Setting> settings) {
    std::string place = file.empty() ? "command line" : file.string();
    if (!file.empty() && !settings.empty()) place += " and command line";
    return read_run(file, nlohmann::json::object(), settings, place);
}

RunConfig read_run(const std::filesystem::path& file, const nlohmann::json& keys,
                   std::span<const Setting> settings, const std::string& place) {
    nlohmann::json object = nlohmann::json::object();
    if (file.empty()) {
        object["schema"] = RunConfig().schema;
    } else {
        object = machine::read_json_object(file);
    }
    for (const auto& [key, value] : keys.items()) drop_dependent_keys({key, value}, object);
    for (const auto& [key, value] : keys.items()) {
        if (value.is_null()) machine::check_known(key, run_keys(), place);
        apply({key, value}, object, place);
    }

    RunConfig config;
    for (const Setting& setting : settings) {
        if (setting.key.starts_with(machine_prefix)) {
            config.machine_settings.push_back({setting.key.substr(machine_prefix.size()), setting.value});
            continue;
        }
        if (setting.value.is_null()) machine::check_known(setting.key, run_keys(), place);
        drop_dependent_keys(setting, object);
        apply(setting, object, place);
    }
    ConfigReader reader(object, place);
    reader.check_schema(config.schema);
    describe(reader, config);
    reader.check_keys();
    validate(config, reader);
    config.file = file;
    return config;
}

nlohmann::ordered_json to_json(const RunConfig& config) {
    RunConfig copy = config;  // describe() takes writable fields, which the reader needs
    machine::ConfigWriter writer;
    describe(writer, copy);
    nlohmann::ordered_json object = writer.object();
    for (const Setting& setting : config.machine_settings) {
        object["machine_settings"][setting.key] = setting.value;
    }
    return object;
}

std::vector<machine::KeyDescription> run_keys() {
    return machine::keys_of<RunConfig>();
}

}  // namespace systole::run
