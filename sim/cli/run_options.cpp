#include "sim/cli/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "hw/machine/config_error.h"
#include "sim/cli/schema/documents.h"
#include "sim/run/path_finder.h"

namespace systole::cli {

bool names_program(const std::string& file) {
    const std::string extension = std::filesystem::path(file).extension();
    return extension == ".tpu" || extension == ".asm" || extension == ".s";
}

bool names_network(const std::string& file) {
    constexpr std::array<std::string_view, 7> extensions = {".txt",   ".h5",   ".hdf5",  ".hlo",
                                                            ".keras", ".onnx", ".tflite"};
    const std::filesystem::path path(file);
    if (path.extension() == ".gz") return path.stem().extension() == ".hlo";
    return std::ranges::find(extensions, path.extension().string()) != extensions.end();
}

namespace {

/// The milliseconds of "7ms", "0.5s" or "300us"; absent for another text.
std::optional<double> parse_milliseconds(std::string_view text) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !(number > 0.0)) return std::nullopt;
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (unit == "ms") return number;
    if (unit == "s") return 1e3 * number;
    if (unit == "us") return 1e-3 * number;
    return std::nullopt;
}

}  // namespace

std::vector<run::Setting> RunOptions::settings() const {
    std::vector<run::Setting> settings;
    const auto text = [&](const char* key, const std::string& value) {
        if (!value.empty()) settings.push_back({key, value});
    };
    const auto texts = [&](const char* key, const std::vector<std::string>& values) {
        if (!values.empty()) settings.push_back({key, values});
    };
    const auto number = [&](const std::string& key, const std::string& value) {
        if (!value.empty()) settings.push_back(run::parse_setting(key + "=" + value));
    };
    const auto numbers = [&](const std::string& key, const std::vector<std::string>& values) {
        if (!values.empty())
            settings.push_back(run::parse_setting(fmt::format("{}=[{}]", key, fmt::join(values, ","))));
    };
    const auto flag = [&](const char* key, bool value) {
        if (value) settings.push_back({key, true});
    };
    text("machine", machine);
    // Settings that drop other keys of the run file come before those keys.
    text("model", model);
    const bool is_network = names_network(file);
    if (is_network || names_program(file)) {
        if (!program.empty() || !model.empty()) {
            throw machine::ConfigError(fmt::format("{} is {}; a run has one program or model, not {} too",
                                                   file, is_network ? "a network" : "a program",
                                                   program.empty() ? model : program));
        }
        text(is_network ? "model" : "program", file);
    }
    text("program", program);
    texts("input_shape", input_shape);
    text("tflite_runtime", tflite_runtime);
    text("signature", signature);
    text("state", state);
    number("new_tokens", new_tokens);
    number("cached_tokens", cached_tokens);
    texts("cache", cache);
    number("size_multiplier", size_multiplier);
    texts("input", input);
    number("random_input", random_input);
    text("labels", labels);
    text("label_names", label_names);
    text("resize", resize);
    text("crop", crop);
    text("layout", layout);
    text("preset", preset);
    number("input_scale", input_scale);
    numbers("mean", mean);
    numbers("std", std);
    text("channels", channels);
    text("mapping", mapping);
    if (no_overlap) settings.push_back({"overlap", false});
    if (no_cut_images) settings.push_back({"cut_images", false});
    number("batch", batch);
    // With requests, --limit may be a time: "7ms".
    const std::optional<double> limit_is_time = parse_milliseconds(limit);
    if (limit_is_time) {
        settings.push_back({"latency_limit_ms", *limit_is_time});
    } else {
        number("limit", limit);
    }
    if (!latency_limit.empty()) {
        const std::optional<double> milliseconds = parse_milliseconds(latency_limit);
        if (!milliseconds) {
            throw machine::ConfigError(fmt::format(
                "--latency-limit {}: it must be a time, as in 7ms, 0.5s or 300us", latency_limit));
        }
        settings.push_back({"latency_limit_ms", *milliseconds});
    }
    number("arrivals", arrivals);
    number("arrival_seed", arrival_seed);
    texts("calibration", calibration);
    text("calibration_method", calibration_method);
    text("host", host);
    texts("baselines", baselines);
    if (no_host_time) settings.push_back({"host_time", false});
    text("out", out);
    text("outputs", outputs);
    text("float_outputs", float_outputs);
    flag("timing_only", timing_only);
    flag("float_reference", float_reference);
    flag("accuracy_by_layer", accuracy_by_layer);
    flag("instructions", instructions);
    number("power_windows", power_windows);
    text("registers", registers);
    texts("print", print);
    if (no_explain) settings.push_back({"explain", false});
    texts("trace.kinds", trace);
    number("trace.from", trace_from);
    if (!trace_to.empty() && trace_to.find_first_not_of('0') == std::string::npos) {
        throw machine::ConfigError("--trace-to is 0; the window is empty: it must be above --trace-from");
    }
    number("trace.to", trace_to);
    texts("trace.layers", trace_layers);
    texts("trace.processing_elements", trace_pe);
    for (const std::string& setting : set) settings.push_back(run::parse_setting(setting));
    return settings;
}

std::filesystem::path RunOptions::run_file() const {
    if (file.empty() || names_program(file) || names_network(file)) return {};
    return run::PathFinder({}).find(file, "runs");
}

run::RunConfig RunOptions::config() const {
    return run::read_run(run_file(), settings());
}

void add_model_options(CLI::App& command, Context& context, RunOptions& options, const std::string& file_is) {
    CLI::Option* file = command.add_option("FILE", options.file, file_is)->type_name("");
    context.note(file, {.presets = "runs", .files = true});
    CLI::Option* machine =
        command.add_option("--machine", options.machine, "machine file, or a name in configs/machines")
            ->type_name("FILE");
    context.note(machine, {.presets = "machines", .files = true});
    CLI::Option* model =
        command
            .add_option("--model", options.model,
                        "network file (Keras, TFLite, ONNX, HLO, graph .json or .txt), or a name in models")
            ->type_name("FILE");
    context.note(model, {.presets = "models", .files = true});
    command
        .add_option("--input-shape", options.input_shape,
                    "sizes of an input that the file leaves open: 1,3,224,224; NAME=... for input NAME, "
                    "in which a * stands for any text")
        ->type_name("N,...")
        ->allow_extra_args(false);
    const auto one_of = [&](const char* name, std::string& value, const auto& names, const char* meaning,
                            const char* type) {
        CLI::Option* option = command.add_option(name, value, meaning)->type_name(type);
        context.only(option, {names.begin(), names.end()});
    };
    one_of("--tflite-runtime", options.tflite_runtime, run::names_of(run::TfliteRuntime()),
           "TensorFlow release that a TFLite file was made for: 2.19 or 2.21 (newest)", "RELEASE");
    command.add_option("--signature", options.signature, "signature of a TFLite file with several")
        ->type_name("NAME");
    CLI::Option* state = command
                             .add_option("--state", options.state,
                                         "what goes in and out of a step of a program (docs/training.md)")
                             ->type_name("FILE");
    context.note(state, {.files = true});
    command
        .add_option("--new-tokens", options.new_tokens,
                    "tokens of an inference of a decoder, whose ONNX file leaves their number open")
        ->type_name("N");
    command
        .add_option("--cached-tokens", options.cached_tokens,
                    "tokens before these, whose keys and values are in its caches (0)")
        ->type_name("N");
    command
        .add_option("--cache", options.cache,
                    "inputs that the next run gets longer, from outputs; a tensor core keeps them in its "
                    "memory: past.*=present.*")
        ->type_name("INPUT=OUTPUT")
        ->allow_extra_args(false);
    command
        .add_option(
            "--input", options.input,
            "images (PNG, JPEG, BMP, folder of these) or arrays (NPY, NPZ, IDX); NAME=FILE for input NAME")
        ->type_name("FILE...");
    command
        .add_option("--random-input", options.random_input,
                    "use made-up input from this seed instead (pixels; for a network of arrays "
                    "floats from -1 to 1, whole numbers from 0 to 7)")
        ->type_name("SEED")
        ->excludes("--input");
    command.add_option("--resize", options.resize, "resize images: the shorter side, or HEIGHTxWIDTH")
        ->type_name("SIZE");
    command.add_option("--crop", options.crop, "then keep the middle: a square, or HEIGHTxWIDTH")
        ->type_name("SIZE");
    one_of("--layout", options.layout, run::names_of(run::Layout()),
           "axes of images in arrays: hwc, chw, or as in the network's file", "ORDER");
    one_of("--preset", options.preset, run::names_of(run::Preset()),
           "how pixels become numbers, by name: imagenet-torch, imagenet-tf, imagenet-caffe, raw", "NAME");
    command.add_option("--input-scale", options.input_scale, "factor for 8-bit pixels (1/255)")
        ->type_name("X");
    command.add_option("--mean", options.mean, "taken from the scaled pixels: one, or one a channel")
        ->type_name("X,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--std", options.std, "by which the difference is divided: likewise")
        ->type_name("X,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    one_of("--channels", options.channels, run::names_of(run::ChannelOrder()),
           "order of colours that the network takes", "ORDER");
    one_of("--mapping", options.mapping, names_of(machine::MappingName()),
           "choices of the compiler: best, as_published (as validated), plain (none)", "NAME");
    command.add_flag("--no-overlap", options.no_overlap,
                     "transfers and the work of layers follow each other");
    command.add_flag("--no-cut-images", options.no_cut_images,
                     "an image that does not fit the unified buffer is refused");
    command.add_option("--batch", options.batch, "images that go through the network together (1)")
        ->type_name("N");
    command.add_option("--limit", options.limit, "only the first N images")->type_name("N");
    command
        .add_option("--calibration", options.calibration, "images to quantize with (first 128 of the input)")
        ->type_name("FILE...");
    one_of("--calibration-method", options.calibration_method, run::names_of(run::CalibrationMethod()),
           "ranges from these: minmax (all numbers), percentile (99.99 %), mse (least error)", "NAME");
    CLI::Option* set =
        command
            .add_option("--set", options.set,
                        "sets a key of the run, or of the machine: machine.KEY; null unsets it")
            ->type_name("KEY=VALUE")
            ->allow_extra_args(false);
    Values keys{.words = schema::settable_keys()};
    for (std::string& key : keys.words) key += '=';
    context.note(set, std::move(keys));
}

void add_comparison_options(CLI::App& command, Context& context, RunOptions& options) {
    command.add_option("--program", options.program, "program (.tpu or assembly), instead of a model")
        ->type_name("FILE")
        ->excludes("--model");
    command.add_option("--labels", options.labels, "the class of each image: IDX or NPY")->type_name("FILE");
    command
        .add_option("--label-names", options.label_names, "names of the classes, a line each: the best five")
        ->type_name("FILE");
    CLI::Option* baseline = command
                                .add_option("--baseline", options.baselines,
                                            "compare with it: file, or name in configs/baselines")
                                ->type_name("FILE...");
    CLI::Option* host =
        command.add_option("--host", options.host, "baseline that does the host's work")->type_name("FILE");
    for (const CLI::Option* option : {baseline, host}) {
        context.note(option, {.presets = "baselines", .files = true});
    }
    command.add_option("--arrivals", options.arrivals, "requests a second, at random: their latencies")
        ->type_name("RATE");
    command
        .add_option("--latency-limit", options.latency_limit,
                    "time for 99 of 100 requests, as 7ms: the most requests within it; --limit 7ms too")
        ->type_name("TIME");
    command.add_option("--arrival-seed", options.arrival_seed, "seed of the arrivals (1)")->type_name("SEED");
    command.add_flag("--no-host-time", options.no_host_time,
                     "compare with the time of the chip alone, without its host's");
    command
        .add_option("--size-multiplier", options.size_multiplier,
                    "images N times as wide and high, with --timing-only")
        ->type_name("N");
    command.add_flag("--timing-only", options.timing_only, "cycles without values: faster, no answers");
    command.add_flag("--float-reference", options.float_reference,
                     "run the network in float too, and compare");
}

void add_run_only_options(CLI::App& command, Context& context, RunOptions& options) {
    command.add_option("--out", options.out, "folder for report.json and report.html")->type_name("DIR");
    command.add_option("--outputs", options.outputs, "folder for the network's outputs as NPY files")
        ->type_name("DIR");
    command.add_option("--float-outputs", options.float_outputs, "the same for the network run in float")
        ->type_name("DIR");
    command.add_flag("--instructions", options.instructions, "list the times of each instruction");
    command
        .add_option("--power-windows", options.power_windows, "power over time, in N windows: report.json")
        ->type_name("N");
    command.add_option("--registers", options.registers, "the registers of the array in cycles all, or A-B")
        ->type_name("CYCLES");
    command
        .add_option("--print", options.print,
                    "show a host buffer (NAME, NAME:int8, NAME:int16x4) or rows of the chip (ub:ROW+ROWS, "
                    "acc:ROW+ROWS; of tiles, tile0:BYTE+BYTES)")
        ->type_name("BUFFER")
        ->allow_extra_args(false);
    command.add_flag("--no-explain", options.no_explain,
                     "with --out: no explanations, no simulations for them");
    CLI::Option* trace = command
                             .add_option("--trace", options.trace,
                                         "write into --out: timeline, csv, text, waves; docs/traces.md")
                             ->type_name("KIND,...")
                             ->delimiter(',')
                             ->allow_extra_args(false);
    context.note(trace, {.words = trace::trace_kinds(), .listed = true});
    command.add_option("--trace-from", options.trace_from, "trace events from this cycle on")
        ->type_name("CYCLE");
    command.add_option("--trace-to", options.trace_to, "trace events before this cycle")->type_name("CYCLE");
    command.add_option("--trace-layers", options.trace_layers, "trace events of these layers")
        ->type_name("A,B")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        .add_option("--trace-pe", options.trace_pe,
                    "in waves, processing elements' registers: 0,3, or 0-1,2-3; docs/waves.md")
        ->type_name("ROW,COLUMN")
        ->allow_extra_args(false);
}

}  // namespace systole::cli
