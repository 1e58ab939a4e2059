#include "sim/study/sweep/base_values.h"

#include <string_view>

#include "sim/run/path_finder.h"
#include "sim/run/record/spec.h"
#include "sim/view/report/figures.h"

namespace systole::sweep {

const BaseValues::Values& BaseValues::values_of(const std::optional<nlohmann::json>& machine) {
    const std::string name = machine ? machine->dump() : std::string();
    const auto known = by_machine_.find(name);
    if (known != by_machine_.end()) return known->second;
    std::vector<run::Setting> settings = study_.settings;
    if (machine) settings.push_back({"machine", *machine});
    const run::RunConfig config = run::read_run(study_.run_file, settings);
    const run::PathFinder paths(config.file);
    return by_machine_
        .emplace(name, Values{.run = run::to_json(config),
                              .machine = record_json(run::read_machine(config, paths))})
        .first->second;
}

const nlohmann::ordered_json& BaseValues::find(const std::string& key,
                                               const std::optional<nlohmann::json>& machine) {
    static const nlohmann::ordered_json none;
    constexpr std::string_view prefix = "machine.";
    const Values& values = values_of(machine);
    const bool is_machine = key.starts_with(prefix);
    const auto* const found = report::find_path(is_machine ? values.machine : values.run,
                                                is_machine ? key.substr(prefix.size()) : key);
    return found == nullptr ? none : *found;
}

}  // namespace systole::sweep
