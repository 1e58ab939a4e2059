#include "sim/cli/schema/documents.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "hw/machine/machine_config.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/run_config.h"
#include "sim/run/training_file.h"
#include "sim/study/sweep/study_file.h"

namespace systole::schema {

using machine::KeyDescription;
using Type = KeyDescription::Type;

namespace {

void add_paths(std::vector<std::string>& paths, const std::string& before,
               const std::vector<KeyDescription>& keys) {
    for (const KeyDescription& key : keys) {
        switch (key.type) {
            case Type::Section:
                add_paths(paths, before + key.name + ".", key.keys);
                break;
            case Type::WholeNumber:
            case Type::Number:
            case Type::Switch:
            case Type::Text:
            case Type::ListOfTexts:
            case Type::ListOfNumbers:
            case Type::Choice:
            case Type::Sections:
                paths.push_back(before + key.name);
                break;
            case Type::TextsByName:  // their names are not keys
            case Type::ValuesByName:
                break;
        }
    }
}

}  // namespace

const std::vector<Document>& documents() {
    static const std::vector<Document> all{
        {.name = "machine",
         .schema = machine::MachineConfig().schema,
         .folder = "configs/machines",
         .what = "A machine: its units, the paths between them, watts and energy.",
         .keys = machine::machine_keys()},
        {.name = "run",
         .schema = run::RunConfig().schema,
         .folder = "configs/runs",
         .what = "A run: a network or program, the machine, the data, and the parts of the report.",
         .keys = run::run_keys()},
        {.name = "baseline",
         .schema = baselines::Baseline().schema,
         .folder = "configs/baselines",
         .what = "A processor to compare with. Figures are of one die, except those of the server. Unknown "
                 "figures are left out.",
         .keys = baselines::baseline_keys()},
        {.name = "study",
         .schema = std::string(sweep::study_schema),
         .folder = "configs/studies",
         .what = "A study: a run, the keys of it that vary, and what is asked of each point.",
         .keys = sweep::study_keys()},
        {.name = "training",
         .schema = std::string(run::training_schema),
         .folder = "models/mnist_cnn/training",
         .what = "A training: which inputs of a step are state, what the others take, and which results are "
                 "shown.",
         .keys = run::training_keys()}};
    return all;
}

const Document& document(std::string_view name) {
    std::vector<std::string> names;
    for (const Document& each : documents()) {
        if (each.name == name) return each;
        names.push_back(each.name);
    }
    throw machine::ConfigError(
        fmt::format("{}: there is no such configuration file; there are {}", name, fmt::join(names, ", ")));
}

std::vector<std::string> key_paths(const Document& document) {
    std::vector<std::string> paths;
    add_paths(paths, "", document.keys);
    return paths;
}

std::vector<std::string> settable_keys() {
    std::vector<std::string> keys = key_paths(document("run"));
    for (const std::string& key : key_paths(document("machine"))) keys.push_back("machine." + key);
    // The kind of a file cannot be changed.
    std::erase_if(keys, [](const std::string& key) { return key.ends_with("schema"); });
    return keys;
}

}  // namespace systole::schema
