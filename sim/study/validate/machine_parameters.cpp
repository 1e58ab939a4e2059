#include "sim/study/validate/machine_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "hw/machine/config_error.h"
#include "sim/run/run_config.h"

namespace systole::validate {
namespace {

using machine::KeyDescription;
using Json = nlohmann::json;
using Type = KeyDescription::Type;

constexpr double real_step = 0.1;
constexpr std::uint64_t instead_of_zero = 100;
constexpr double instead_of_zero_share = 0.1;

std::string text_of(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.is_number_float() ? fmt::format("{:.10g}", value.get<double>()) : value.dump();
}

/// The numbers of a list's entry; its other values tell which entry it is.
void add_entry(std::vector<MachineParameter>& parameters, const std::string& list, std::size_t index,
               const Json& entry, const std::vector<KeyDescription>& keys) {
    std::vector<std::string> words;
    for (const KeyDescription& key : keys) {
        if (entry.contains(key.name) && !entry.at(key.name).is_number()) {
            words.push_back(text_of(entry.at(key.name)));
        }
    }
    for (const KeyDescription& key : keys) {
        if (!entry.contains(key.name) || !entry.at(key.name).is_number()) continue;
        parameters.push_back({.key = fmt::format("{}[{}].{}", list, index, key.name),
                              .entry = fmt::format("{}", fmt::join(words, ", ")),
                              .value = entry.at(key.name),
                              .description = key,
                              .list = list,
                              .index = index});
    }
}

void add_keys(std::vector<MachineParameter>& parameters, const std::string& before, const Json& object,
              const std::vector<KeyDescription>& keys) {
    for (const KeyDescription& key : keys) {
        const auto found = object.find(key.name);
        if (found == object.end()) continue;
        const std::string path = before + key.name;
        switch (key.type) {
            case Type::Section:
                add_keys(parameters, path + ".", *found, key.keys);
                break;
            case Type::Sections:
                for (std::size_t i = 0; i < found->size(); ++i) {
                    add_entry(parameters, path, i, found->at(i), key.keys);
                }
                break;
            case Type::WholeNumber:
            case Type::Number:
            case Type::Switch:
            case Type::Choice:
                parameters.push_back(
                    {.key = path, .entry = {}, .value = *found, .description = key, .list = {}, .index = 0});
                break;
            case Type::Text:  // names and sources
            case Type::ListOfTexts:
            case Type::ListOfNumbers:  // of runs
            case Type::TextsByName:
            case Type::ValuesByName:
                break;
        }
    }
}

std::optional<Change> change(const machine::MachineConfig& machine, const MachineParameter& parameter,
                             const Json& value, std::string label) {
    Json object = machine::to_json(machine);
    run::Setting setting{parameter.key, value};
    if (!parameter.list.empty()) {
        std::string pointer = "/" + parameter.list;
        std::ranges::replace(pointer, '.', '/');
        setting = {parameter.list, object.at(Json::json_pointer(pointer))};
        setting.value.at(parameter.index)[parameter.description.name] = value;
    }
    try {
        const std::string what = fmt::format("{} with another {}", machine.name, parameter.key);
        run::apply_to_machine(std::vector{setting}, object, what);
        return Change{.label = std::move(label), .machine = machine::read_machine(object, what)};
    } catch (const machine::ConfigError&) {
        return std::nullopt;  // no such machine can be built
    }
}

/// Adds the first of the values with which a machine can be built.
void add_nearest(std::vector<Change>& changes, const machine::MachineConfig& machine,
                 const MachineParameter& parameter, const std::vector<Json>& values) {
    for (const Json& value : values) {
        if (auto changed = change(machine, parameter, value, text_of(value))) {
            changes.push_back(std::move(*changed));
            return;
        }
    }
}

void add_counts(std::vector<Change>& changes, const machine::MachineConfig& machine,
                const MachineParameter& parameter) {
    using Values = std::vector<std::uint64_t>;
    const auto value = parameter.value.get<std::uint64_t>();
    const machine::Range range = parameter.description.range.value();
    Values less{std::max(value / 2, range.least), value - value / 4, value - 1};
    Values more{std::min(value * 2, range.most), value + value / 2, value + 1};
    if (value == 0) {
        less.clear();
        more = {instead_of_zero, 1};
    }
    std::erase_if(less, [&](std::uint64_t other) { return other >= value || other < range.least; });
    std::erase_if(more, [&](std::uint64_t other) { return other <= value || other > range.most; });
    add_nearest(changes, machine, parameter, std::vector<Json>(less.begin(), less.end()));
    add_nearest(changes, machine, parameter, std::vector<Json>(more.begin(), more.end()));
}

void add_reals(std::vector<Change>& changes, const machine::MachineConfig& machine,
               const MachineParameter& parameter) {
    const auto value = parameter.value.get<double>();
    const auto add = [&](double other, std::string label) {
        if (auto changed = change(machine, parameter, other, std::move(label))) {
            changes.push_back(std::move(*changed));
        }
    };
    if (value == 0.0) {
        const machine::RealRange range = parameter.description.real_range.value_or(machine::RealRange{});
        const double other = range.most <= 1.0 ? instead_of_zero_share : static_cast<double>(instead_of_zero);
        return add(other, text_of(other));
    }
    for (const double factor : {1.0 - real_step, 1.0 + real_step}) {
        add(value * factor, fmt::format("x{:.1f}", factor));
    }
}

}  // namespace

std::string MachineParameter::shown() const {
    std::string text = text_of(value);
    if (!description.unit.empty()) text += " " + description.unit;
    if (!entry.empty()) text += " (" + entry + ")";
    return text;
}

std::vector<MachineParameter> machine_parameters(const machine::MachineConfig& machine) {
    std::vector<MachineParameter> parameters;
    add_keys(parameters, "", machine::to_json(machine), machine::machine_keys());
    return parameters;
}

std::vector<Change> changes_of(const machine::MachineConfig& machine, const MachineParameter& parameter) {
    std::vector<Change> changes;
    switch (parameter.description.type) {
        case Type::WholeNumber:
            add_counts(changes, machine, parameter);
            break;
        case Type::Number:
            add_reals(changes, machine, parameter);
            break;
        case Type::Switch:
            add_nearest(changes, machine, parameter, std::vector<Json>{!parameter.value.get<bool>()});
            break;
        case Type::Choice:
            for (const std::string& other : parameter.description.choices) {
                if (other != parameter.value) {
                    add_nearest(changes, machine, parameter, std::vector<Json>{other});
                }
            }
            break;
        case Type::Text:
        case Type::ListOfTexts:
        case Type::ListOfNumbers:
        case Type::Section:
        case Type::Sections:
        case Type::TextsByName:
        case Type::ValuesByName:
            break;  // no parameters
    }
    return changes;
}

}  // namespace systole::validate
