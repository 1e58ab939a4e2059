#include "sim/run/training_file.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"

namespace systole::run {

template <class Visitor>
void describe(Visitor& visitor, StatePairs& pairs) {
    visitor.field(machine::needed("input", "", "the first input, by its name or position from 0"),
                  pairs.input);
    visitor.field(machine::needed("output", "", "the output that replaces it in the next step, likewise"),
                  pairs.output);
    visitor.field({"count", "", "so many inputs and outputs, one after the other"}, pairs.count,
                  machine::Range{.least = 1});
}

namespace {

constexpr std::array<std::string_view, 6> rule_names{"zeros",          "ones",      "value",
                                                     "glorot_uniform", "he_normal", "random_bits"};

}  // namespace

template <class Visitor>
void describe(Visitor& visitor, InitialValues& values) {
    visitor.field(machine::needed("inputs", "", "names that the rule is for; * stands for any text"),
                  values.inputs);
    visitor.choice({"rule", "", "how the values are made"}, values.rule, rule_names);
    visitor.field({.key = "value", .meaning = "the number everywhere", .if_absent = "another rule"},
                  values.value, machine::RealRange{-1e30, 1e30});
}

template <class Visitor>
void describe(Visitor& visitor, TrainingFile& file) {
    std::string schema(training_schema);
    visitor.field(machine::needed("schema", "", "kind and version of the file: sim.training/1"), schema);
    visitor.sections({.key = "state",
                      .meaning = "inputs and the outputs that replace them in the next step",
                      .if_absent = "those that the program has"},
                     file.state);
    visitor.field(machine::needed("images", "", "the input that takes the images or other examples"),
                  file.images);
    visitor.field({.key = "labels", .meaning = "the input that takes their labels", .if_absent = "none"},
                  file.labels);
    visitor.field({.key = "step",
                   .meaning = "the input that takes the number of the step, from 0",
                   .if_absent = "none"},
                  file.step);
    visitor.values({"values", "", "inputs that are the same number in each step: its value by their name"},
                   file.values);
    visitor.texts(
        {"columns", "", "outputs to show of each step: by the name of the column, a name or position"},
        file.columns);
    visitor.sections(
        {"initial", "", "the values at first of inputs that are state: the first rule that fits"},
        file.initial);
}

std::vector<machine::KeyDescription> training_keys() {
    return machine::keys_of<TrainingFile>();
}

TrainingFile read_training(const std::filesystem::path& path) {
    return read_training(machine::read_json_object(path), path.string());
}

TrainingFile read_training(const nlohmann::json& object, const std::string& path) {
    TrainingFile file;
    file.path = path;
    machine::ConfigReader reader(object, file.path);
    reader.check_schema(training_schema);
    describe(reader, file);
    reader.check_keys();
    for (const auto& [input, value] : file.values) {
        if (!value.is_number())
            reader.fail("values", fmt::format("the value of \"{}\" must be a number", input));
    }
    for (std::size_t i = 0; i < file.initial.size(); ++i) {
        InitialValues& values = file.initial[i];
        if (values.value.has_value() == (values.rule == InitialRule::Value)) continue;
        throw machine::ConfigError(
            fmt::format("{}: initial[{}]: rule \"{}\" {}", file.path, i,
                        rule_names[static_cast<std::size_t>(values.rule)],
                        values.value ? "takes no value; \"value\" does" : "needs the key value"));
    }
    return file;
}

}  // namespace systole::run
