#include "sim/run/run_config.h"

#include <fmt/format.h>

#include <limits>
#include <string_view>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"

namespace systole::run {

using machine::ConfigReader;
using machine::Range;
using machine::RealRange;

// The fields, declared once for reading and writing. (Outside an unnamed namespace, so that the visitors
// find them by the structure's type.)
template <class Visitor>
void describe(Visitor& visitor, RunConfig& config) {
    visitor.field({"schema", "", "what this file is: sim.run/1"}, config.schema);
    visitor.field({"machine", "", "machine file, or its name"}, config.machine);
    visitor.field({"model", "", "network file"}, config.model);
    visitor.field({"program", "", "program file, instead of a model"}, config.program);
    visitor.field({"input", "", "files or folders of images"}, config.input);
    visitor.field({"random_input", "", "seed of made-up input, instead of files; 0 for none"},
                  config.random_input, Range{0, std::numeric_limits<std::uint64_t>::max()});
    visitor.field({"labels", "", "file of labels"}, config.labels);
    visitor.field({"input_scale", "", "value of one step of an 8-bit pixel"}, config.input_scale,
                  RealRange{1e-9, 1e9});
    visitor.field({"calibration", "", "images to quantize with"}, config.calibration);
    visitor.field({"batch", "", "images that go through the network together"}, config.batch,
                  Range{1, std::numeric_limits<std::uint32_t>::max()});
    visitor.field({"limit", "", "images to run, from the first; 0 for all"}, config.limit,
                  Range{0, std::uint64_t{1} << 40U});
    visitor.field({"host", "", "baseline file, or its name: the processor that does what the chip cannot"},
                  config.host);
    visitor.field({"baselines", "", "baseline files, or their names, to compare with"}, config.baselines);
    visitor.field({"out", "", "folder for report.json"}, config.out);
    visitor.field({"timing_only", "", "cycles without values"}, config.timing_only);
    visitor.field({"float_reference", "", "run the network in float as well"}, config.float_reference);
    visitor.field({"instructions", "", "report when each instruction was where"}, config.instructions);
    visitor.field({"power_windows", "windows", "of equal length, to report the run's power in; 0 for none"},
                  config.power_windows, Range{0, 1'000'000});
    visitor.field({"registers", "", "cycles whose registers of the array to report: all, or FIRST-LAST"},
                  config.registers);
    visitor.field({"print", "", "host buffers to report after the run"}, config.print);
    visitor.field(
        {"explain", "", "report why each layer takes its cycles, and what changes would bring; with out"},
        config.explain);
    visitor.section({"trace", "", "what to write about the run's course, beside its report"}, config.trace);
}

namespace {

constexpr std::string_view machine_prefix = "machine.";

/// Keys that speak of what the key names, and mean nothing once it is replaced.
void drop_what_belongs_to(std::string_view key, nlohmann::json& object) {
    const auto drop = [&](std::initializer_list<const char*> keys) {
        for (const char* other : keys) object.erase(other);
    };
    if (key == "program") drop({"model", "batch", "calibration", "float_reference"});
    if (key == "model") drop({"program"});
    if (key == "input") drop({"labels", "random_input"});
    if (key == "random_input") drop({"labels", "input"});
}

/// One file need not be written as a list of one.
void wrap_single_texts(nlohmann::json& object, std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
        const auto found = object.find(key);
        if (found != object.end() && found->is_string()) *found = nlohmann::json::array({*found});
    }
}

void wrap_single_texts(nlohmann::json& object) {
    wrap_single_texts(object, {"input", "calibration", "baselines", "print"});
    const auto trace = object.find("trace");
    if (trace != object.end() && trace->is_object())
        wrap_single_texts(*trace, {"kinds", "layers", "processing_elements"});
}

void validate(const RunConfig& config, const ConfigReader& reader) {
    if (config.schema != "sim.run/1") reader.fail("schema", "it must be \"sim.run/1\"");
    if (config.machine.empty()) reader.fail("machine", "a run needs a machine, as in \"tpu_v1\"");
    if (config.model.empty() && config.program.empty()) {
        reader.fail("model", "a run needs a model or a program");
    }
    if (!config.model.empty() && !config.program.empty()) {
        reader.fail("program", "a run has a model or a program, not both");
    }
    if (!config.program.empty()) {
        for (const char* key : {"batch", "calibration"}) {
            if (reader.has(key)) reader.fail(key, "it goes with a model; the program has its own");
        }
        if (config.float_reference) reader.fail("float_reference", "it needs a model, not a program");
    }
    if (config.timing_only && config.float_reference) {
        reader.fail("float_reference", "a timing-only run has no values to hold it against");
    }
    if (config.timing_only && !config.registers.empty()) {
        reader.fail("registers", "a timing-only run has no values in them");
    }
    if (config.timing_only && !config.trace.processing_elements.empty()) {
        throw machine::ConfigError(fmt::format(
            "{}: trace.processing_elements is \"{}\"; a timing-only run has no values in registers",
            reader.file(), config.trace.processing_elements.front()));
    }
    if (config.timing_only && !config.print.empty()) {
        reader.fail("print", "a timing-only run has no values in its buffers");
    }
    if (config.random_input > 0 && !config.input.empty()) {
        reader.fail("random_input", "a run has files of input or made-up input, not both");
    }
    if (!config.labels.empty() && config.input.empty()) reader.fail("labels", "they need an input");
    config.trace.validate(reader.file());
    if (!config.trace.kinds.empty() && config.out.empty()) {
        reader.fail("out", "traces need a folder to be written to");
    }
}

}  // namespace

RunConfig read_run(const std::filesystem::path& file, std::span<const Setting> settings) {
    nlohmann::json object = nlohmann::json::object();
    if (!file.empty()) {
        object = machine::read_json_object(file);
        ConfigReader(object, file.string()).require("schema");
    }
    std::string place = file.empty() ? "command line" : file.string();
    if (!file.empty() && !settings.empty()) place += " and command line";

    RunConfig config;
    for (const Setting& setting : settings) {
        if (setting.key.starts_with(machine_prefix)) {
            config.machine_settings.push_back({setting.key.substr(machine_prefix.size()), setting.value});
            continue;
        }
        drop_what_belongs_to(setting.key, object);
        apply(setting, object, place);
    }
    wrap_single_texts(object);
    ConfigReader reader(object, place);
    describe(reader, config);
    reader.reject_unknown_keys();
    validate(config, reader);
    config.file = file;
    return config;
}

nlohmann::ordered_json to_json(const RunConfig& config) {
    RunConfig copy = config;  // the field lists name writable fields, for the reader's sake
    machine::ConfigWriter writer;
    describe(writer, copy);
    nlohmann::ordered_json object = writer.object();
    for (const Setting& setting : config.machine_settings) {
        object["machine_settings"][setting.key] = setting.value;
    }
    return object;
}

}  // namespace systole::run
