#include "sim/study/validate/parameter_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "hw/machine/config_error.h"
#include "sim/study/validate/runs.h"
#include "sim/view/table/page.h"
#include "sim/view/terminal/layout.h"

namespace systole::validate {

using tables::Cell;
using tables::Table;

namespace {

constexpr std::string_view none = "none";
constexpr std::string_view default_kind = "default";

/// Those with other values than the first machine's, or that it does not have.
std::vector<MachineParameter> differing(std::vector<MachineParameter> parameters,
                                        const std::vector<MachineParameter>& first) {
    std::erase_if(parameters, [&](const MachineParameter& parameter) {
        return std::ranges::any_of(first, [&](const MachineParameter& other) {
            return other.key == parameter.key && other.value == parameter.value;
        });
    });
    return parameters;
}

void check_keys(const Evidence& evidence, const std::vector<machine::MachineConfig>& machines,
                const std::string& file) {
    std::vector<std::string> known;
    for (const machine::MachineConfig& machine : machines) {
        for (const MachineParameter& parameter : machine_parameters(machine)) known.push_back(parameter.key);
    }
    for (const auto& [section, keys] :
         {std::pair("tests", &evidence.tests), std::pair("unchanged", &evidence.unchanged)}) {
        for (const auto& [key, text] : *keys) {
            if (std::ranges::count(known, key) > 0) continue;
            throw machine::ConfigError(fmt::format(
                "{}: {} names \"{}\"; none of the machines has such a parameter", file, section, key));
        }
    }
}

std::string text_of(const std::map<std::string, std::string>& texts, const std::string& key) {
    const auto found = texts.find(key);
    return found == texts.end() ? std::string() : found->second;
}

/// The figure that notices the change.
std::string noticed_text(const Trial& trial) {
    if (!trial.failure.empty()) return "a workload cannot run";
    return trial.is_noticed() ? trial.growth->text() : "nothing";
}

std::string source_text(const ParameterRow& row) {
    return row.source ? row.source->text : "not in the file; the default";
}

nlohmann::ordered_json to_json(const Trial& trial) {
    nlohmann::ordered_json json{{"change", trial.change}};
    json["noticed"] = trial.is_noticed();
    if (!trial.failure.empty()) json["failure"] = trial.failure;
    if (const auto& growth = trial.growth) {
        json["figure"] = growth->figure;
        json["unit"] = growth->is_share ? "points" : "%";
        json["before"] = tables::rounded(growth->before, 3);
        json["after"] = tables::rounded(growth->after, 3);
    }
    return json;
}

nlohmann::ordered_json to_json(const ParameterRow& row) {
    nlohmann::ordered_json json{
        {"key", row.parameter.key}, {"value", row.parameter.value}, {"unit", row.parameter.description.unit},
        {"kind", row.kind()},       {"source", source_text(row)},   {"noticed", row.is_noticed()}};
    json["changes"] = nlohmann::ordered_json::array();
    for (const Trial& trial : row.trials) json["changes"].push_back(to_json(trial));
    if (!row.test.empty()) json["test"] = row.test;
    if (!row.unchanged.empty()) json["unchanged"] = row.unchanged;
    return json;
}

/// A row and its lines: source, then what notices.
std::string to_text(const ParameterRow& row, const terminal::Look& look) {
    const auto line = [&](std::string_view lead, std::string_view text) {
        return terminal::beside(fmt::format("      {:<8} ", lead), text, look.width()) + '\n';
    };
    std::string text = terminal::beside(fmt::format("  {} = {}  ", row.parameter.key, row.parameter.shown()),
                                        row.kind(), look.width()) +
                       '\n' + line("source", source_text(row));
    for (const Trial& trial : row.trials) {
        text += line(trial.change, noticed_text(trial));
    }
    if (!row.unchanged.empty()) text += line("same", row.unchanged);
    if (!row.test.empty()) text += line("test", row.test);
    if (!row.is_noticed()) text += look.paint(terminal::Role::Wrong, line(none, "nothing notices it"));
    return text;
}

std::string title_of(const MachineParameters& machine) {
    return machine.beside.empty()
               ? fmt::format("{}: all parameters", machine.machine)
               : fmt::format("{}: parameters that differ from {}", machine.machine, machine.beside);
}

}  // namespace

bool ParameterRow::is_noticed_by_figure() const {
    return std::ranges::any_of(trials, &Trial::is_noticed);
}

std::string ParameterRow::largest_growth() const {
    const Trial* most = nullptr;
    const auto size = [](const Trial& trial) { return trial.growth->after - trial.growth->before; };
    for (const Trial& trial : trials) {
        if (trial.growth && (most == nullptr || size(trial) > size(*most))) most = &trial;
    }
    return most == nullptr ? std::string("no error grows")
                           : fmt::format("{}: {}", most->change, most->growth->text());
}

std::string ParameterRow::kind() const {
    return std::string(source ? machine::source_kind_names[static_cast<std::size_t>(source->kind)]
                              : default_kind);
}

std::string ParameterRow::noticed_by() const {
    std::vector<std::string> parts;
    if (is_noticed_by_figure()) {
        for (const Trial& trial : trials)
            parts.push_back(fmt::format("{}: {}", trial.change, noticed_text(trial)));
    }
    if (!test.empty()) parts.push_back(fmt::format("test \"{}\"", test));
    if (!unchanged.empty()) parts.push_back(unchanged);
    if (!is_noticed()) parts.insert(parts.begin(), std::string(none));
    return fmt::format("{}", fmt::join(parts, "; "));
}

ParameterStudy study_parameters(const Setup& setup, const std::vector<machine::MachineConfig>& machines,
                                const Evidence& evidence, const std::string& file, const Simulate& simulate) {
    check_keys(evidence, machines, file);
    ParameterStudy study{.target = setup.target.name, .machines = {}};
    Formulas formulas = formulas_of(setup);
    Runs runs(setup, simulate);
    const auto figures = [&](const machine::MachineConfig& machine) {
        formulas.forget("machine.");
        formulas.know(flattened(machine::to_json(machine), "machine."));
        runs.run_on(machine, setup.target.parameter_runs, formulas);
        return noticing_figures(setup.target, machine.name, formulas);
    };
    const machine::MachineConfig& first = machines.at(0);
    for (const machine::MachineConfig& machine : machines) {
        const bool is_first = study.machines.empty();
        MachineParameters& listed = study.machines.emplace_back();
        listed.machine = machine.name;
        if (!is_first) listed.beside = first.name;
        const std::vector<NoticingFigure> before = figures(machine);
        std::vector<MachineParameter> parameters = machine_parameters(machine);
        if (!is_first) parameters = differing(std::move(parameters), machine_parameters(first));
        for (MachineParameter& parameter : parameters) {
            ParameterRow row;
            const auto source = machine.sources.find(parameter.key);
            if (source != machine.sources.end()) {
                row.source = machine::read_source(parameter.key, source->second, machine.name);
            }
            row.test = text_of(evidence.tests, parameter.key);
            row.unchanged = text_of(evidence.unchanged, parameter.key);
            if (row.unchanged.empty()) {
                for (const Change& change : changes_of(machine, parameter)) {
                    Trial& trial = row.trials.emplace_back();
                    trial.change = change.label;
                    try {
                        trial.growth = validate::largest_growth(before, figures(change.machine));
                    } catch (const NoSuchRun& error) {
                        trial.failure = error.what();
                    }
                }
            }
            row.parameter = std::move(parameter);
            listed.rows.push_back(std::move(row));
        }
    }
    return study;
}

ParameterStudy study_parameters(const std::string& target, const run::PathFinder& paths) {
    const Setup setup = read_setup(target, paths);
    const std::filesystem::path file = setup.beside.find(setup.target.name, "evidence");
    const Evidence evidence = read_evidence(file);
    std::vector<machine::MachineConfig> machines{setup.machine};
    for (const std::string& name : evidence.machines) {
        machines.push_back(machine::read_machine(setup.beside.find(name, "machines")));
    }
    return study_parameters(setup, machines, evidence, file.string(), make_simulate());
}

Table parameter_summary(const ParameterStudy& study) {
    Table table{.id = "summary",
                .title = "Parameters by the kind of their source, and what notices a wrong value",
                .columns = {"", "parameters", "published figure", "test alone", "none"}};
    std::vector<std::string> kinds(machine::source_kind_names.begin(), machine::source_kind_names.end());
    kinds.emplace_back(default_kind);
    std::array<int, 4> sums{};
    for (const std::string& kind : kinds) {
        std::array<int, 4> counts{};
        for (const MachineParameters& machine : study.machines) {
            for (const ParameterRow& row : machine.rows) {
                if (row.kind() != kind) continue;
                ++counts[0];
                ++counts[row.is_noticed_by_figure() ? 1 : row.is_noticed() ? 2 : 3];
            }
        }
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
        table.add(kind, counts, 0);
    }
    table.add("all", sums, 0);
    return table;
}

Table parameter_table(const MachineParameters& machine) {
    Table table{.id = machine.machine,
                .title = title_of(machine),
                .columns = {"key", "value", "kind", "noticed by", "source"}};
    for (const ParameterRow& row : machine.rows) {
        table.add("`" + row.parameter.key + "`",
                  {Cell::words(row.parameter.shown()), Cell::words(row.kind()), Cell::words(row.noticed_by()),
                   Cell::words(source_text(row))});
    }
    return table;
}

Table unnoticed_table(const ParameterStudy& study) {
    Table table{.id = "none",
                .title = "What nothing notices, and so what to validate next",
                .columns = {"key", "machine", "value", "kind", "grows most"}};
    for (const MachineParameters& machine : study.machines) {
        for (const ParameterRow& row : machine.rows) {
            if (row.is_noticed()) continue;
            table.add("`" + row.parameter.key + "`",
                      {Cell::words(machine.machine), Cell::words(row.parameter.shown()),
                       Cell::words(row.kind()), Cell::words(row.largest_growth())});
        }
    }
    return table;
}

std::string to_text(const ParameterStudy& study, const terminal::Look& look) {
    std::string text;
    for (const MachineParameters& machine : study.machines) {
        text += look.paint(terminal::Role::Heading, title_of(machine)) + "\n\n";
        for (const ParameterRow& row : machine.rows) text += to_text(row, look);
        text += '\n';
    }
    text += tables::to_text(parameter_summary(study), look) + '\n';
    text += look.paint(terminal::Role::Heading, unnoticed_table(study).title) + "\n\n";
    for (const MachineParameters& machine : study.machines) {
        for (const ParameterRow& row : machine.rows) {
            if (row.is_noticed()) continue;
            const std::string what =
                fmt::format("{}, {}; {}", machine.machine, row.kind(), row.largest_growth());
            text += terminal::beside(fmt::format("  {:<32} ", row.parameter.key), what, look.width()) + '\n';
        }
    }
    return text;
}

nlohmann::ordered_json to_json(const ParameterStudy& study) {
    nlohmann::ordered_json json{{"schema", "sim.parameters/1"}, {"target", study.target}};
    json["machines"] = nlohmann::ordered_json::array();
    for (const MachineParameters& machine : study.machines) {
        nlohmann::ordered_json object{{"name", machine.machine}};
        if (!machine.beside.empty()) object["differs_from"] = machine.beside;
        object["parameters"] = nlohmann::ordered_json::array();
        for (const ParameterRow& row : machine.rows) object["parameters"].push_back(to_json(row));
        json["machines"].push_back(std::move(object));
    }
    return json;
}

std::string to_page(const ParameterStudy& study, std::string_view page_template, const std::string& file) {
    std::map<std::string, std::string> by_id{{"summary", to_markdown(parameter_summary(study))},
                                             {"none", to_markdown(unnoticed_table(study))}};
    for (const MachineParameters& machine : study.machines) {
        by_id[machine.machine] = to_markdown(parameter_table(machine));
    }
    return tables::filled_page(page_template, by_id, file);
}

}  // namespace systole::validate
