#include "sim/study/validate/machines.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <set>

#include "hw/machine/config_error.h"
#include "sim/run/run_config.h"
#include "sim/study/sweep/expression.h"
#include "sim/study/validate/queue.h"

namespace systole::validate {
namespace {

/// In a named formula, `machine.KEY` would be of the target's machine, whichever is changed here.
void check_needs(const std::string& formula, Formulas& formulas, const std::string& place) {
    const sweep::Expression expression(formula, queue_functions());
    for (const std::string& name : expression.names()) {
        if (name.starts_with("machine.")) continue;
        std::set<std::string> needs;
        formulas.add_needs(name, needs, place);
        for (const std::string& need : needs) {
            if (!need.starts_with("machine.")) continue;
            throw machine::ConfigError(
                fmt::format("{} is \"{}\"; {} names {} of the target's machine: write it here", place,
                            formula, name, need));
        }
    }
}

}  // namespace

machine::MachineConfig changed(const machine::MachineConfig& machine, const MachineChanges& changes,
                               Formulas& formulas, const std::string& place, const std::string& element) {
    if (changes.empty()) return machine;
    const nlohmann::ordered_json before = machine::to_json(machine);
    const std::map<std::string, Number> keys = flattened(before, "machine.");
    std::vector<run::Setting> settings;
    for (const auto& [key, change] : changes) {
        run::Setting& setting = settings.emplace_back(run::Setting{key, change});
        Number value = change.is_number() ? Number(change.get<double>()) : std::nullopt;
        if (change.is_string() && keys.contains("machine." + key)) {
            const std::string formula = change.get<std::string>();
            const std::string here = fmt::format("{}.{}", place, key);
            value = formulas.value(formula, element, keys, here);
            check_needs(formula, formulas, here);
            if (!value) {
                throw machine::ConfigError(fmt::format("{} is \"{}\"; it has no value here", here, formula));
            }
        }
        if (!value) continue;
        // A count that is whole is written as one; any other is refused where the machine is read.
        constexpr double exact = 1e15;
        if (*value == std::floor(*value) && std::abs(*value) < exact) {
            setting.value = static_cast<std::int64_t>(*value);
        } else {
            setting.value = *value;
        }
    }
    nlohmann::json object = before;
    run::apply_to_machine(settings, object, place);
    return machine::read_machine(object, place);
}

}  // namespace systole::validate
